/** A form: why did the frame not reach an object of the pipeline? */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Target } from "flowsteer/explain";
import type { Pipeline } from "../../engine/api.js";
import { pipeline } from "../../state/answer.js";
import { selectedPath } from "../../state/selection.js";
import { ruleAt } from "../picture/names.js";
import { askWhy } from "../view.js";

const KINDS = ["rule", "flow", "table", "queue", "vport"] as const;
type Kind = (typeof KINDS)[number];
/** Names beyond these are typed. */
const OFFERED = 500;

/** The kind that was chosen, and what was selected then: another rule that is selected is asked about. */
const choice = signal<{ readonly kind: Kind; readonly path: string | null } | null>(null);

export function AskForm(): JSX.Element | null {
  const whole = pipeline.value;
  if (whole === null) return null;
  const kinds = KINDS.filter((one) => namesOf(whole, one).length > 0);
  const selected = ruleAt(whole, selectedPath.value);
  const chosenKind = choice.value?.path === selectedPath.value ? choice.value.kind : null;
  const wanted = chosenKind ?? (selected?.kind === "flow" ? "flow" : "rule");
  const chosen = kinds.includes(wanted) ? wanted : (kinds[0] ?? "rule");
  const names = namesOf(whole, chosen);
  const first = names.find((name) => name === selected?.name) ?? names[0];
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        const name = new FormData(event.currentTarget).get("name");
        if (typeof name === "string" && name.trim() !== "") void askWhy(targetOf(chosen, name.trim()));
      }}
    >
      <span id="ask-label">Why did it not reach</span>
      <select
        aria-label="Kind of target"
        value={chosen}
        onChange={(event) =>
          void (choice.value = { kind: event.currentTarget.value as Kind, path: selectedPath.peek() })
        }
      >
        {kinds.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <input
        key={`${chosen} ${first}`}
        name="name"
        aria-label={`Name of the ${chosen}`}
        list="ask-names"
        defaultValue={first}
        autocomplete="off"
      />
      <datalist id="ask-names">
        {names.slice(0, OFFERED).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit">Explain</button>
    </form>
  );
}

function targetOf(of: Kind, name: string): Target {
  return of === "vport" ? { kind: "vport", vport: Number(name) } : { kind: of, name };
}

function namesOf({ tables, ends, vports }: Pipeline, of: Kind): readonly string[] {
  switch (of) {
    case "rule":
    case "flow":
      return tables.flatMap(({ rules }) =>
        rules.flatMap((rule) => ((rule.kind === "flow") === (of === "flow") ? [rule.name] : [])),
      );
    case "table":
      return tables.flatMap(({ path, name }) => (path === null ? [] : [name]));
    case "queue":
      return ends.flatMap((end) => (end.kind === "qp" || end.kind === "wq" ? [end.name] : []));
    case "vport":
      return vports === 0 ? [] : Array.from({ length: Math.min(OFFERED, vports + 1) }, (_, i) => String(i));
  }
}
