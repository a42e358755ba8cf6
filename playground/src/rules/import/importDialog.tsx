/** The dialog "Import rules": a text of another program, which is opened as it is. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../../parts/dialog.js";
import type { ViewProps } from "../../parts/viewProps.js";
import { openSource } from "../../state/document.js";

export function ImportDialog({ onClose }: ViewProps): JSX.Element {
  const text = useSignal("");
  const open = (): void => {
    openSource(text.peek(), "pasted");
    onClose();
  };
  return (
    <Dialog title="Import rules" class="import-rules" onClose={onClose}>
      <p>
        Paste what a device or another program has: a steering dump, commands of testpmd, tc or ethtool, flows of Open
        vSwitch, nftables, ip xfrm, ClassBench, a recording. The text stays as it is, and on this machine.
      </p>
      <textarea
        class="mono"
        aria-label="Rules of another program"
        rows={8}
        spellcheck={false}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <p class="import-do">
        <button type="button" class="main" disabled={text.value.trim() === ""} onClick={open}>
          Open as rules
        </button>
      </p>
    </Dialog>
  );
}
