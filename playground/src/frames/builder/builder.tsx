/** The packet builder: a line and a form of the same packet, and what happens to it. */
import type { JSX } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { CompletionInput } from "../../parts/completionInput.js";
import { Dialog } from "../../parts/dialog.js";
import { answer, pipeline } from "../../state/answer.js";
import { building } from "../../state/builder.js";
import { closeCapture, openFile } from "../../state/capture.js";
import { editRules, rules } from "../../state/document.js";
import { addFrame } from "../../state/edits.js";
import { notify } from "../../state/notices.js";
import { nodeAt } from "../../text/places.js";
import { filter, selectedFrame } from "../../state/selection.js";
import { frameOf, origins } from "./added.js";
import { packetCompletions } from "./completions.js";
import { Form } from "./form.js";
import { PacketModel } from "./model.js";
import { Preview } from "./preview.js";

export function Builder(): JSX.Element {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const model = useMemo(() => new PacketModel(building.peek()?.text ?? ""), []);
  const [name, setName] = useState("");
  const [from, setFrom] = useState("port:1");
  useEffect(() => {
    input.current?.focus();
  }, []);
  const answered = answer.value;
  useEffect(() => model.renew(), [answered]);
  const error = model.error.value;
  const add = (): void => {
    if (model.error.peek() !== null) return;
    const frame = frameOf({
      layers: model.layers.peek(),
      bytes: model.bytes.peek(),
      linkType: model.linkType.peek(),
      name,
      from,
    });
    const edits = addFrame(rules.peek(), frame);
    if (edits === null) {
      notify({ id: "builder", text: "A frame cannot be added: the rules are not a JSON object." });
      return;
    }
    const before = nodeAt(rules.peek(), "frames")?.children?.length ?? 0;
    filter.value = {};
    editRules(edits);
    building.value = null;
    if (openFile.peek() === null) selectedFrame.value = before + 1;
    else {
      const back = (): void => void closeCapture().then(() => (selectedFrame.value = before + 1));
      const actions = [{ title: "Close the capture", run: back }];
      notify({
        id: "builder",
        text: "The frame is added to the rules; their frames are shown when no capture is open.",
        actions,
      });
    }
  };
  const ends = pipeline.value;
  return (
    <Dialog title="Build packet" class="builder" onClose={() => (building.value = null)}>
      <div class="builder-line">
        <CompletionInput
          input={input}
          id={`${id}-line`}
          label="Packet notation"
          placeholder="ipv4 10.0.0.1 > 10.0.0.7 / udp 40000 > 4789 / vxlan vni 5001"
          value={model.line.value}
          errorId={error === null ? null : `${id}-error`}
          completions={packetCompletions}
          onInput={(text) => model.setLine(text)}
          onPaste={(text) => model.paste(text)}
        />
      </div>
      <p id={`${id}-error`} class="builder-error" role="status">
        {error !== null && error.column !== null && `Column ${error.column}: `}
        {error !== null && error.layer === null && error.text}
      </p>
      <div class="builder-body">
        <Form model={model} />
        <Preview model={model} />
      </div>
      <footer class="builder-foot">
        <label>
          Name{" "}
          <input
            type="text"
            value={name}
            placeholder="optional"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <span>
          <label for={`${id}-from`}>The frame</label>{" "}
          <select id={`${id}-from`} value={from} onChange={({ currentTarget }) => setFrom(currentTarget.value)}>
            {origins(ends?.ports ?? 1, ends?.ends ?? []).map((one) => (
              <option key={one.id} value={one.id}>
                {one.text}
              </option>
            ))}
          </select>
        </span>
        <button type="button" class="main" disabled={error !== null} onClick={add}>
          Add to frames
        </button>
      </footer>
    </Dialog>
  );
}
