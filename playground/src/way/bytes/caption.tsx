/** In words: the bytes that are selected, what the rule asks of them, and what the step changed. */
import type { JSX } from "preact";
import { counted } from "../../parts/format.js";
import { selectedBytes, selectedField } from "../../state/selection.js";
import { bytes } from "../view.js";
import { mask } from "./selection.js";

export function Caption(): JSX.Element | null {
  const shown = bytes.value;
  if (shown === null) return null;
  return (
    <p class="bytes-caption" aria-live="polite">
      {selectedText() ?? changedText()}
    </p>
  );
}

function selectedText(): string | null {
  const [range, name, digits] = [selectedBytes.value, selectedField.value, mask.value];
  if (range === null) return name === null ? null : `${name}: no bytes of this frame`;
  const last = range.offset + range.length - 1;
  const where = range.length === 1 ? `byte ${range.offset}` : `bytes ${range.offset} to ${last}`;
  const asks = digits === null ? "" : `, the rule masks ${digits.replaceAll("0", "").length} of ${digits.length} bits`;
  const differ = digits?.replaceAll(/[^x]/g, "").length ?? 0;
  return `${name ?? "selected"}: ${where}${asks}${differ === 0 ? "" : `, ${differ} differ`}`;
}

function changedText(): string {
  const shown = bytes.value;
  if (shown === null) return "";
  const sum = (kind: string): number =>
    shown.marks.reduce((count, mark) => count + (mark.kind === kind ? mark.length : 0), 0);
  const removed = shown.removed.reduce((count, one) => count + one.bytes.length / 2, 0);
  const parts = [
    [sum("changed"), "changed"],
    [sum("inserted"), "inserted"],
    [removed, "removed"],
  ] as const;
  const said = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${counted(count, "byte")} ${what}`]));
  return said.length === 0 ? counted(shown.tree.frame.length, "byte") : `this step: ${said.join(", ")}`;
}
