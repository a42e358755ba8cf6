/** The report of `flowsteer why --all`: one screen, however many frames there are. */
import { repairText, type ExplanationGroup, type Spread } from "../../explain/index.js";
import type { Outcome } from "../../index.js";
import { counted, grouped, printable, share, wrapped, type Paint } from "../text.js";
import { missText, reasonText } from "./reasons.js";

const WIDTH = 80;
/** Lines of groups that a screen has room for. */
const MAX_LINES = 36;

export interface GroupSums {
  readonly frames: number;
  readonly lost: number;
  /** Those that a driver received because no rule took them. */
  readonly unclaimed: number;
  /** Where the frames are from, and whether all were read. */
  readonly sources: string;
}

/** @param again the command line that explains one frame, without its number; null for none */
export function groupsText(
  paint: Paint,
  groups: readonly ExplanationGroup[],
  sums: GroupSums,
  again: string | null,
): string {
  const { frames, sources } = sums;
  const head = `${counted(frames, "frame")} ${sources}`;
  if (groups.length === 0) return `${head}\nNone of them missed or was dropped.\n`;
  const why = groups.length === 1 ? "for one reason" : `for ${groups.length} reasons`;
  const texts = groups.map((group) => groupText(paint, group, frames, again));
  const count = fitting(texts);
  const rest = groups.slice(count);
  const left = rest.reduce((sum, group) => sum + group.frames, 0);
  const more =
    rest.length === 0
      ? ""
      : `\n${counted(left, "frame")} more, for ${counted(rest.length, "other reason")}: --json lists all\n`;
  const first = groups[0]?.examples[0];
  const hint = first === undefined || again === null ? "" : `\nThe whole chain:\n  ${again} --frame ${first}\n`;
  return `${wrapped(`${head}; ${endsText(sums)}, ${why}`, WIDTH, "", "")}${texts.slice(0, count).join("")}${more}${hint}`;
}

/** Copies that reached no destination. */
export function lostCopiesText(copies: ReadonlyMap<NonNullable<Outcome["reason"]>, number>): string {
  if (copies.size === 0) return "";
  const all = [...copies.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...copies].map(([reason, count]) => `${reasonText(reason)} (${grouped(count)})`);
  return `\n${wrapped(`${counted(all, "copy", "copies")} of frames reached no destination: ${reasons.join(", ")}`, WIDTH, "", "  ")}`;
}

/** Rules whose frames RSS spread unevenly. */
export function spreadsText(paint: Paint, spreads: readonly Spread[]): string {
  return spreads.map((spread) => spreadText(paint, spread)).join("");
}

function spreadText(
  paint: Paint,
  { rule, frames, queues: [fullest], share: part, examples, sentence }: Spread,
): string {
  if (fullest === undefined) return "";
  const { queue, frames: own } = fullest;
  const numbers = `frames ${examples.join(", ")}${own > examples.length ? ", ..." : ""}`;
  const head = `\n${paint("bold", `RSS spread ${counted(frames, "frame")} unevenly`)}, rule ${printable(rule)}: ${numbers}\n`;
  const most = `${printable(queue)} got ${share(own, frames)} of them with ${share(part, 1)} of the table: ${printable(sentence)}`;
  return head + wrapped(most, WIDTH, "  ", "  ");
}

/** How the frames ended that are in groups. */
function endsText({ frames, lost, unclaimed }: GroupSums): string {
  const some = (count: number, all: string): string =>
    count === frames ? `${all} of them` : `${grouped(count)} of them (${share(count, frames)})`;
  const ends = [
    ...(lost === 0 ? [] : [`${some(lost, "all")} missed or were dropped`]),
    ...(unclaimed === 0 ? [] : [`no rule took ${some(unclaimed, "any")}`]),
  ];
  return ends.join("; ");
}

/** How many texts a screen has room for; one at least. */
function fitting(texts: readonly string[]): number {
  let lines = 0;
  const first = texts.findIndex((text) => (lines += text.split("\n").length - 1) > MAX_LINES);
  return first < 0 ? texts.length : Math.max(1, first);
}

function groupText(
  paint: Paint,
  { frames, examples, explanation, outcome }: ExplanationGroup,
  all: number,
  again: string | null,
): string {
  const more = frames > examples.length ? ", ..." : "";
  const numbers = `${frames === 1 ? "frame" : "frames"} ${examples.join(", ")}${more}`;
  const head = `\n${paint("bold", counted(frames, "frame"))}, ${share(frames, all)}: ${numbers}\n`;
  if (explanation === null) {
    const { verdict, reason, missed } = outcome;
    const end = reason === null ? verdict : missed.length > 0 ? missText(missed) : reasonText(reason);
    const why = "not explained, since they are like none of the frames above: --frame explains one of them";
    const text = again === null ? end : `${end}; ${why}`;
    return head + wrapped(printable(text), WIDTH, "  ", "  ");
  }
  const { sentence, mistake, repairs } = explanation;
  const lines = [wrapped(printable(sentence), WIDTH, "  ", "  ")];
  if (mistake !== null) lines.push(labelled(paint, "mistake", mistake.sentence));
  // One that takes frames from a rule is no first choice.
  const repair = repairs.find(({ standing }) => standing !== "disables");
  if (repair !== undefined) lines.push(labelled(paint, "repair", repairText(repair)));
  return head + lines.join("");
}

function labelled(paint: Paint, label: string, text: string): string {
  const lines = wrapped(printable(text), WIDTH, " ".repeat(11), " ".repeat(11));
  return `  ${paint("yellow", label.padEnd(9))}${lines.slice(11)}`;
}
