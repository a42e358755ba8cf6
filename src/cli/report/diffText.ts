/** What `flowsteer diff` prints for people. */
import type { CapturedGroup, Change, DifferenceResult, Treatment, Witness } from "../../explain/index.js";
import { counted, grouped, printable, share, wrapped, type Paint } from "../text.js";
import { sourceText } from "../source.js";
import { missText, reasonText } from "./reasons.js";

const WIDTH = 80;
/** Groups that are shown in full. */
const MAX_GROUPS = 20;
/** Bytes of a witness in a line. */
const HEX_LINE = 32;

/** The groups of a capture. */
export function capturedText(
  paint: Paint,
  groups: readonly CapturedGroup[],
  { frames, sources }: { readonly frames: number; readonly sources: string },
): string {
  const different = groups.reduce((sum, group) => sum + group.frames, 0);
  const head = `${counted(frames, "frame")} ${sources}`;
  if (different === 0) return wrapped(`${head}; all are treated the same`, WIDTH, "", "");
  const some = `${grouped(different)} of them (${share(different, frames)}) are treated differently`;
  const texts = groups.slice(0, MAX_GROUPS).map((group) => {
    const more = group.frames > group.examples.length ? ", ..." : "";
    const numbers = `${group.frames === 1 ? "frame" : "frames"} ${group.examples.join(", ")}${more}`;
    const title = `\n${paint("bold", counted(group.frames, "frame"))}, ${share(group.frames, frames)}: ${numbers}\n`;
    return title + wrapped(printable(group.sentence), WIDTH, "  ", "  ") + sidesText(paint, group);
  });
  return wrapped(`${head}; ${some}`, WIDTH, "", "") + texts.join("") + restText(groups.length);
}

/** What a comparison of all frames found. */
export function provedText(
  paint: Paint,
  { equal, groups, changes }: DifferenceResult,
  old: string,
  changed: string,
): string {
  const some = counted(changes.length, "change");
  const what = `${old} and ${changed}`;
  if (equal) {
    const proof = changes.length === 0 ? "they have the same rules" : `${some}, and no frame can notice any: proved`;
    return wrapped(`${what} treat all frames the same: ${proof}`, WIDTH, "", "") + changesText(paint, changes);
  }
  const texts = groups
    .slice(0, MAX_GROUPS)
    .map((group, i) => {
      const title = `\n${paint("bold", `difference ${i + 1}`)}: ${group.kinds.join(", ")}\n`;
      const sentence = wrapped(printable(group.sentence), WIDTH, "  ", "  ");
      return title + sentence + sidesText(paint, group) + witnessText(paint, group.witness);
    })
    .join("");
  const differ = counted(groups.length, "difference");
  const head =
    groups.length === 0
      ? `${what}: ${some}; no difference was found, and none is excluded`
      : `${what} treat frames differently: ${some}, ${differ}`;
  return wrapped(head, WIDTH, "", "") + texts + restText(groups.length) + changesText(paint, changes);
}

/** What a comparison of all frames found, in one line: with what is undecided, where something is. */
export function summaryText({ equal, groups, changes }: DifferenceResult, old: string, changed: string): string {
  const undecided = changes.filter(({ effect }) => effect === "unknown");
  const [first] = undecided;
  const answer = equal ? "equal" : groups.length > 0 ? "different" : "undecided";
  const found = groups.length === 0 ? [] : [counted(groups.length, "difference"), groups[0]?.sentence ?? ""];
  const open =
    first === undefined
      ? []
      : [`${counted(undecided.length, "change")} undecided`, `${first.sentence}${triedText(first)}`];
  const parts = [`${old} and ${changed}`, counted(changes.length, "change"), ...found, ...open];
  return `${printable(`${answer}: ${parts.join("; ")}`)}\n`;
}

function triedText({ tried }: Change): string {
  return tried === null ? "" : `; tried: ${tried}`;
}

/** By what is noticed: "it" or "them". */
const EFFECTS: Readonly<Record<Change["effect"], (them: string) => string>> = {
  different: (them) => `frames notice ${them}`,
  same: (them) => `no frame can notice ${them}: proved`,
  unknown: (them) => `whether frames notice ${them} is not known`,
};
/** Changes of one effect that are shown. */
const MAX_CHANGES = 8;

/** The changes, by what they do to frames. */
function changesText(paint: Paint, changes: readonly Change[]): string {
  return (["different", "unknown", "same"] as const)
    .map((effect) => {
      const some = changes.filter((one) => one.effect === effect);
      if (some.length === 0) return "";
      const lines = some
        .slice(0, MAX_CHANGES)
        .map((one) => wrapped(printable(one.sentence + triedText(one)), WIDTH, "  ", "    "))
        .join("");
      const more =
        some.length > MAX_CHANGES ? `  and ${grouped(some.length - MAX_CHANGES)} more: --json lists all\n` : "";
      return `\n${paint("bold", counted(some.length, "change"))}, ${EFFECTS[effect](some.length === 1 ? "it" : "them")}:\n${lines}${more}`;
    })
    .join("");
}

/** Says how many groups are not shown. */
function restText(groups: number): string {
  return groups > MAX_GROUPS ? `\n${counted(groups - MAX_GROUPS, "more group")}: --json lists all\n` : "";
}

/** The headers of a frame, and how each side treats it. */
function sidesText(
  paint: Paint,
  { headers, before, after }: { readonly headers: string; readonly before: Treatment; readonly after: Treatment },
): string {
  const line = (label: string, text: string): string => {
    const lines = wrapped(printable(text), WIDTH, " ".repeat(9), " ".repeat(9));
    return `  ${paint("yellow", label.padEnd(7))}${lines.slice(9)}`;
  };
  return line("frame", headers) + line("old", treatmentText(before)) + line("new", treatmentText(after));
}

/** The bytes of a witness. */
function witnessText(paint: Paint, witness: Witness): string {
  const { bytes, before } = witness;
  const digits = bytes.match(new RegExp(`.{1,${2 * HEX_LINE}}`, "g")) ?? [];
  const after = before.length === 0 ? "" : `, after ${counted(before.length, "other frame")}`;
  const lines = digits.map((line) => `         ${line}\n`).join("");
  return `  ${paint("yellow", "bytes".padEnd(7))}${printable(sourceText(witness))}${after}\n${lines}`;
}

function treatmentText({ rules, outcome, counters }: Treatment): string {
  const { verdict, reason, tag, to, copies, missed } = outcome;
  const hit = rules.length === 0 ? "no rule" : rules.map(({ name }) => name).join(" > ");
  const places = to.map(({ name }) => name).join(", ");
  const end = missed.length > 0 ? missText(missed) : reason === null ? verdict : reasonText(reason);
  const parts = [`${hit}: ${places === "" ? end : `${verdict} to ${places}`}`];
  if (copies.length > 0) parts.push(`copies to ${copies.map(({ name }) => name).join(", ")}`);
  if (tag !== null) parts.push(`tag ${tag}`);
  const names = Object.keys(counters);
  if (names.length > 0) parts.push(`counted by ${names.join(", ")}`);
  return parts.join("; ");
}
