/** What the packet becomes: its bytes, and what the rules do with it. */
import type { JSX } from "preact";
import { Verdict } from "../../parts/verdict.js";
import { countText, counted } from "../../parts/format.js";
import type { PacketModel } from "./model.js";
import { hexOf } from "../../text/hex.js";

/** Bytes that are shown. */
const MAX = 2048;
const LINE = 16;

export function Preview({ model }: { readonly model: PacketModel }): JSX.Element {
  const bytes = model.bytes.value;
  const lines = Math.ceil(Math.min(bytes.length, MAX) / LINE);
  return (
    <div class="builder-preview" data-stale={model.error.value !== null || undefined}>
      <h3>What the rules do with it</h3>
      <Fate model={model} />
      <h3>Bytes</h3>
      <p class="muted">{counted(bytes.length, "byte")}</p>
      <pre class="mono" tabIndex={0} aria-label="Bytes of the packet">
        {Array.from({ length: lines }, (_, i) => hexLine(bytes, i * LINE)).join("\n")}
        {bytes.length > MAX && `\n… ${countText(bytes.length - MAX)} more`}
      </pre>
    </div>
  );
}

function Fate({ model }: { readonly model: PacketModel }): JSX.Element {
  const way = model.way.value;
  if (way === null) {
    return <p class="muted">No rules are loaded: correct their errors first.</p>;
  }
  const { verdict, reason, to, rules } = way.trace.outcome;
  return (
    <div role="status">
      <p>
        <Verdict verdict={verdict} /> {to.map(({ name }) => name).join(", ")} {reason !== null && <span>{reason}</span>}
      </p>
      <p class="muted">{rules.length === 0 ? "It hits no rule." : `Rules: ${rules.join(", ")}`}</p>
    </div>
  );
}

function hexLine(bytes: Uint8Array, at: number): string {
  const some = [...bytes.subarray(at, at + LINE)];
  return `${at.toString(16).padStart(4, "0")}  ${hexOf(some, " ")}`;
}
