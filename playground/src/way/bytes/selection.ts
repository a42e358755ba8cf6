/** The field that is selected: in the tree of headers, among the bytes, and in rules. */
import { batch, computed, effect, signal } from "@preact/signals";
import type { Difference } from "flowsteer/explain";
import {
  filterOfBytes,
  filterOfField,
  headerFieldOf,
  matchFieldOf,
  type HeaderField,
  type TreeField,
} from "flowsteer/packet";
import { condition } from "../../state/condition.js";
import { selectedBytes, selectedField, selectedStep, way } from "../../state/selection.js";
import { asked, bytes } from "../view.js";
import { bytesOf, fieldAtByte } from "./fields.js";
import { maskBits } from "./mask.js";

type Extent = Pick<TreeField, "offset" | "bit" | "bits">;

/** Where the selected field lies; null for none, and while only bytes are selected. */
export const picked = signal<Extent | null>(null);

export function isPicked({ offset, bit, bits }: Extent): boolean {
  const is = picked.value;
  return is !== null && is.offset === offset && is.bit === bit && is.bits === bits;
}

export function pickField({ node, field }: HeaderField): void {
  const tree = bytes.peek()?.tree;
  if (tree === undefined) return;
  batch(() => {
    selectedField.value = matchFieldOf(tree, node, field);
    picked.value = { offset: field.offset, bit: field.bit, bits: field.bits };
    selectedBytes.value = bytesOf(field);
    condition.value = filterOfField(tree.frame, node, field);
  });
}

/** Selects a byte, and the field that lies there. */
export function pickByte(at: number): void {
  const tree = bytes.peek()?.tree;
  const found = tree === undefined ? null : fieldAtByte(tree, at);
  if (found !== null && found.field.bits <= 1024) pickField(found);
  else pickBytes(at, at);
}

/** Selects the bytes between two. */
export function pickBytes(from: number, to: number): void {
  const [offset, length] = [Math.min(from, to), Math.abs(to - from) + 1];
  const tree = bytes.peek()?.tree;
  batch(() => {
    selectedField.value = null;
    picked.value = null;
    selectedBytes.value = { offset, length };
    condition.value = tree === undefined ? null : filterOfBytes(tree.frame, offset, length);
  });
}

export function pickNothing(): void {
  batch(() => {
    selectedField.value = null;
    picked.value = null;
    selectedBytes.value = null;
  });
}

// A match field lights the bytes that it reads again at each step.
effect(() => {
  const name = selectedField.value;
  const tree = bytes.value?.tree;
  if (name === null || tree === undefined) return;
  const found = headerFieldOf(tree, name);
  picked.value = found === null ? null : { offset: found.field.offset, bit: found.field.bit, bits: found.field.bits };
  selectedBytes.value = found === null ? null : bytesOf(found.field);
});

// Offsets of one frame mean nothing in another.
effect(() => {
  if (way.value === null) pickNothing();
});

/** What a rule asks of the selected field: "1" masked, "x" masked and different, "0" not masked. */
export const mask = computed((): string | null => {
  const [name, extent, found] = [selectedField.value, picked.value, way.value];
  if (name === null || extent === null || found === null) return null;
  const step = found.trace.steps[selectedStep.value];
  const difference = differencesShown().find(({ field }) => field === name);
  if (difference?.bits.length === extent.bits) {
    return difference.bits.replaceAll("1", "x").replaceAll("0", "1").replaceAll(".", "0");
  }
  if (step?.kind !== "lookup") return null;
  const matched = step.matched.find(({ field }) => field === name);
  return matched === undefined ? null : maskBits(matched.wanted, extent.bits);
});

/** Differences that the pane shows at the moment. */
function differencesShown(): readonly Difference[] {
  const answer = asked.value?.answer ?? way.value?.why;
  const chain = answer?.reasons.flatMap((reason) => (reason.kind === "no match" ? reason.differences : [])) ?? [];
  return [...chain, ...(way.value?.near.flatMap(({ differences }) => differences) ?? [])];
}

/** The eight bits of a byte as `mask` has them; " " for bits outside the field; null where no bit is inside. */
export function maskOfByte(at: number): string | null {
  const [extent, digits] = [picked.value, mask.value];
  if (extent === null || digits === null) return null;
  const start = extent.offset * 8 + extent.bit;
  const bits = Array.from({ length: 8 }, (_, i) => digits.charAt(at * 8 + i - start) || " ").join("");
  return bits.trim() === "" ? null : bits;
}
