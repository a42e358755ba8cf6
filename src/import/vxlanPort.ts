/** The port of a VXLAN device in a text, changed together with the rule that asks for it. */
import { isMade } from "../drivers/madeRules.js";
import type { Scenario } from "../scenario/document.js";
import type { Format } from "../formats/reading/format.js";
import { lineStarts, withEdits, type TextEdit } from "./edits.js";
import { rulesIn, type AnyRule } from "./homes.js";
import { importRules, type ImportOptions, type ImportSource } from "./importRules.js";
import type { RuleWords } from "./ruleWords.js";

const UDP_PORT = "outer.udp_dport";
const PROTOCOL = "outer.ip_protocol";
/** `ip link add vxlan0 type vxlan dstport 4789`: iproute2, ip-link(8). */
const DEVICE = /\bip\s+link\s+add\b.*?\bvxlan\b.*?\b(dstport\s+)(\d+)/g;

/** The edits that let a device of the text read VXLAN at `port`, and a rule ask for it; null where none were found. They were tried. */
export function vxlanPortEdits(
  sources: readonly ImportSource[],
  options: ImportOptions,
  before: Scenario,
  [port, rule]: readonly [port: number, rule: string | null],
  words: RuleWords,
  asking: NonNullable<Format["asking"]>,
): readonly TextEdit[] | null {
  const ofRule = rule === null ? [] : portOf(rule, port, words, asking);
  if (ofRule === null || !words.areTried) return null;
  for (const device of devicesIn(sources, port)) {
    const edits = [device, ...ofRule];
    const { scenario } = importRules(withEdits(sources, edits), { ...options, namePlaces: true });
    const ports = scenario?.device?.parser?.vxlanPorts ?? [];
    if (scenario !== null && ports.includes(port) && isSame(before, scenario, rule)) return edits;
  }
  return null;
}

function* devicesIn(sources: readonly ImportSource[], port: number): Generator<TextEdit> {
  for (const { file, text } of sources) {
    const starts = lineStarts(text);
    for (const { index, 0: all, 1: name = "", 2: value = "" } of text.matchAll(DEVICE)) {
      const before = name + value;
      const at = index + all.length - before.length;
      const line = starts.findLastIndex((start) => start <= at) + 1;
      yield { file, line, column: at - (starts[line - 1] ?? 0) + 1, before, after: `${name}${port}` };
    }
  }
}

/** The edits of the words by which a rule asks for a UDP port, or those that it gets. */
function portOf(
  rule: string,
  port: number,
  words: RuleWords,
  asking: NonNullable<Format["asking"]>,
): readonly TextEdit[] | null {
  const field = words.fieldsOf(rule).find((one) => one.field === UDP_PORT);
  const value = String(port);
  if (field === undefined) return words.editsBy(rule, (text) => asking(text, UDP_PORT, value), [UDP_PORT, value]);
  const { file, line, column, text, value: own } = field;
  return [{ file, line, column, before: text, after: text.slice(0, -own.length) + value }];
}

/** Whether all rules are as before, but for the UDP port of one, and of those of the driver that lead to devices. */
function isSame(before: Scenario, after: Scenario, rule: string | null): boolean {
  const textOf = ([, { match, ...one }]: readonly [string, AnyRule]): string => {
    // A rule that asks for a UDP port need not ask for UDP.
    const { [UDP_PORT]: asked, [PROTOCOL]: _, ...others } = match ?? {};
    return JSON.stringify([one, others, one.name === rule || isMade(one.name) ? null : asked]);
  };
  const [old, now] = [rulesIn(before).map(textOf), rulesIn(after).map(textOf)];
  return old.length === now.length && old.every((text, n) => text === now[n]);
}
