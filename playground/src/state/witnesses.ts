/** Frames that proofs show something by, as frames of the document. */
import { computed, effect } from "@preact/signals";
import { WITNESS_PAUSE, witnessTimes, type Witness, type WitnessFrame } from "flowsteer/explain";
import type { ScenarioFrame } from "flowsteer/scenario";
import { applyEdits } from "jsonc-parser";
import { closeCapture, openFile } from "./capture.js";
import { changeRules, rules } from "./document.js";
import { addFrame } from "./edits.js";
import { valueOf } from "../text/json.js";
import { notify } from "./notices.js";
import { nodeAt } from "../text/places.js";
import { filter, selectedFrame, way } from "./selection.js";

/** The numbers of the frames of the document that are given as hexadecimal digits. */
export const framesByBytes = computed<ReadonlyMap<string, number>>(() => {
  return new Map(
    framesOf(rules.value).flatMap(({ hex }, i): [string, number][] => (hex === undefined ? [] : [[hex, i + 1]])),
  );
});

/**
 * Adds a witness, after the frames that must come before it, and selects it.
 * @param about what it does: `hits "web"`
 * @param rule the rule that it hits; null for a frame that is not about one
 */
export function addWitness(witness: Witness, about: string, rule: string | null = null): void {
  const before = rules.peek();
  const all = [...witness.before, witness];
  const times = timesOf(before, witness);
  let text = before;
  for (const [i, frame] of all.entries()) {
    const isLast = i === all.length - 1;
    const description = isLast
      ? `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
      : `Comes before the frame that ${about}.`;
    const edits = addFrame(text, { description, ...frameOf(frame), ...(times !== null && { time: times[i] ?? 0 }) });
    if (edits === null) return;
    text = applyEdits(text, [...edits]);
  }
  filter.value = {};
  changeRules(text);
  const number = framesOf(text).length;
  show(number);
  if (rule !== null && openFile.peek() === null) watch(number, text, rule);
}

/** The frames of a document that may be refused. */
function framesOf(text: string): readonly ScenarioFrame[] {
  const nodes = nodeAt(text, "frames")?.children ?? [];
  return nodes.map((node) => (node.type === "object" ? (valueOf(node) as ScenarioFrame) : {}));
}

/** Nanoseconds from a frame without a time to the one before it. */
const STEP = 1000;

/** When the frames of a witness come in: after those of the document, with a pause in which meters fill. Null where time is nothing to it. */
function timesOf(text: string, witness: Witness): number[] | null {
  const isTimed = witness.before.length > 0 || witness.time !== undefined;
  if (!isTimed && !text.includes('"flow_meter"')) return null;
  let last: number | null = null;
  for (const { time } of framesOf(text)) last = time ?? (last === null ? 0 : last + STEP);
  return witnessTimes(witness, last === null ? 0n : BigInt(last) + WITNESS_PAUSE).map(Number);
}

/** Says so if the witness does not hit its rule: frames before it can have left other state than that of new rules. */
function watch(frame: number, text: string, rule: string): void {
  const end = effect(() => {
    const shown = way.value;
    if (rules.value !== text || selectedFrame.value !== frame) {
      queueMicrotask(() => end());
      return;
    }
    if (shown?.frame !== frame) return;
    queueMicrotask(() => end());
    // A frame that leaves by a cabled port can hit it beyond.
    if (shown.trace.outcome.rules.some((name) => isNamed(name, rule)) || text.includes('"connect"')) return;
    const id = "witness";
    notify({ id, text: `Frame ${frame} does not hit "${rule}": the frames before it left different state.` });
  });
}

/** Whether a name is that of a rule, or one of those of identical flows. */
function isNamed(names: string, name: string): boolean {
  return ` = ${names} = `.includes(` = ${name} = `);
}

/** Selects a frame of the document. With a capture the page shows the frames of that. */
function show(frame: number): void {
  if (openFile.peek() === null) {
    selectedFrame.value = frame;
    return;
  }
  const back = (): void => void closeCapture().then(() => (selectedFrame.value = frame));
  const actions = [{ title: "Close the capture", run: back }];
  notify({
    id: "builder",
    text: "The frame is added to the rules; their frames are shown when no capture is open.",
    actions,
  });
}

function frameOf({ bytes, from, metadata }: WitnessFrame): ScenarioFrame {
  return {
    hex: bytes,
    ...(from.kind === "queue" ? { send: from.queue.replace(/^qp:/, "") } : from.port !== 1 && { port: from.port }),
    ...(metadata !== undefined && from.kind === "queue" && { metadata }),
  };
}
