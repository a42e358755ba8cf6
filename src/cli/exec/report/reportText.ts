/** What `flowsteer exec` prints at the end: rules of programs, frames, leaks, repeated refusals. */
import type { GroupSums } from "../../report/groupsText.js";
import { groupsText } from "../../report/groupsText.js";
import { counted, grouped, printable, table, type Column, type Paint } from "../../text.js";
import type { DeviceLine, EndLine, RefusedSum, SessionLine } from "./execLines.js";
import type { FrameWatch } from "./frameWatch.js";
import { calledText } from "./refusals.js";
import type { SessionReport } from "./reports.js";

/** Rules of a program that are listed. */
const MAX_RULES = 20;

const right = (title: string): Column => ({ title, right: true });

export function sessionLine({ pid, command, calls, rules, leaks }: SessionReport): SessionLine {
  return {
    kind: "session",
    pid,
    command,
    calls,
    rules: rules.map(({ packets, bytes, ...rule }) => ({ ...rule, packets: Number(packets), bytes: Number(bytes) })),
    leaks: Object.fromEntries(leaks),
  };
}

/** A program: its rules and flows with their hits, and the objects that it never destroyed. */
export function sessionText(paint: Paint, { pid, command, calls, rules, leaks }: SessionLine): string {
  const title = `${printable(command)} (process ${pid}): ${counted(calls, "call")}, ${madeText(rules)}`;
  const byHits = [...rules].sort((a, b) => b.packets - a.packets);
  const rows = byHits.slice(0, MAX_RULES).map(({ name, call, packets, bytes, destroyed }) => ({
    cells: [printable(name), call, grouped(packets), grouped(bytes), destroyed ? "destroyed" : ""],
  }));
  const columns = [{ title: "Rule" }, { title: "made by" }, right("packets"), right("bytes"), { title: "" }];
  const rest = byHits.slice(MAX_RULES);
  const hits = rest.reduce((sum, { packets }) => sum + packets, 0);
  const more = rest.length === 0 ? "" : `${counted(rest.length, "more rule")} with ${counted(hits, "packet")}\n`;
  const never = Object.entries(leaks).map(([kind, count]) => `${grouped(count)} ${kind}`);
  return [
    `${paint("bold", title)}\n`,
    rows.length === 0 ? "" : `${table(paint, columns, rows)}${more}`,
    never.length === 0 ? "" : `${paint("yellow", "never destroyed:")} ${never.join(", ")}\n`,
  ].join("");
}

function madeText(rules: SessionLine["rules"]): string {
  const parts = (["rule", "flow"] as const).flatMap((kind) => {
    const count = rules.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [counted(count, kind)];
  });
  return parts.length === 0 ? "no rules or flows" : parts.join(", ");
}

/** `deliver`, `transmit` and `forward` have no reason. */
const ENDS: Readonly<Record<string, string>> = {
  deliver: "delivered",
  transmit: "left by a port",
  forward: "to another function",
  drop: "dropped",
  miss: "missed",
};

/** What happened to the frames of a device. */
export function deviceText(paint: Paint, { device, arrived, sent, ends }: DeviceLine): string {
  const title = `${printable(device)}: ${counted(arrived.frames, "frame")} arrived, ${grouped(sent.frames)} sent`;
  const rows = ends.map((end) => ({ cells: [endText(end), grouped(end.frames), grouped(end.bytes)] }));
  const columns = [{ title: "Frames" }, right("packets"), right("bytes")];
  return `${paint("bold", title)}\n${rows.length === 0 ? "" : table(paint, columns, rows)}`;
}

function endText({ verdict, text }: EndLine): string {
  const end = ENDS[verdict] ?? verdict;
  return text === "" ? end : `${end}: ${printable(text)}`;
}

/** The lost frames of a device as `why --all` prints them; empty without any. */
export function explanationsText(paint: Paint, { loaded, line, lost }: FrameWatch): string {
  if (lost.length === 0) return "";
  const sums: GroupSums = {
    frames: line.arrived.frames + line.sent.frames,
    lost: lost.reduce((sum, { frames }) => sum + frames, 0),
    unclaimed: 0,
    sources: `of ${printable(loaded.device.name)}`,
  };
  return groupsText(paint, lost, sums, null);
}

/** Refusals that were given more than once; empty without any. */
export function repeatedText(paint: Paint, refused: readonly RefusedSum[]): string {
  return refused
    .filter(({ times }) => times > 1)
    .map((sum) => `${calledText(paint, sum)}: ${sum.code}, ${grouped(sum.times)} times\n`)
    .join("");
}
