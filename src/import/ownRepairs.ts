/** Repairs of rules as edits of the text that the rules came from, and advice in its words. */
import { parseJson } from "../base/json.js";
import { vxlanDevice } from "../drivers/mlx5e.js";
import type { Explanation, Mistake, Repair } from "../explain/index.js";
import type { Format } from "../formats/reading/format.js";
import { withoutKeys } from "../formats/text/keys.js";
import type { TextEdit } from "./edits.js";
import type { RuleWords } from "./ruleWords.js";

export interface OwnRepair extends Repair {
  /**
   * The edits of the text that make this change, none over another. They were tried: the text is imported, and only this
   * rule changes.
   */
  readonly edits?: readonly TextEdit[];
}

export const VLAN_TAG = /^(outer|inner)\.([cs])vlan_tag$/;

type EarlierRule = Extract<Explanation["reasons"][number], { kind: "earlier rule" }>;

/**
 * A repair as edits of the text, where one makes the change.
 * @param earlier the reason that another rule took the frame first, if one did
 */
export function ownRepair(
  repair: Repair,
  words: RuleWords,
  asking: NonNullable<Format["asking"]>,
  earlier: EarlierRule | undefined,
): OwnRepair {
  if (repair.of !== "rule" || repair.rule === null) return repair;
  const [{ field, after } = { field: "", after: null }, second] = repair.fields;
  const isAsked = second === undefined && field !== "priority" && after !== null;
  const edits =
    editsOf(repair.rule, repair.fields, words) ??
    (isAsked ? words.editsBy(repair.rule, (text) => asking(text, field, after), [field, after]) : null) ??
    (isOrder(repair) && earlier !== undefined ? orderEdits(earlier, words) : null);
  if (edits === null) return { ...repair, sentence: orderSentence(repair) ?? repair.sentence };
  const [first, ...more] = edits;
  const line = first === undefined || more.length === 0 ? null : words.textAfter(repair.rule, edits);
  const isShort = line !== null && !line.includes("\n") && withoutKeys(line) === line;
  const sentence = !isShort ? edits.map(sentenceOf).join(" ") : `${first!.file}:${first!.line}: write "${line}".`;
  return { ...repair, sentence, edits };
}

/**
 * A UDP port that is registered for VXLAN: texts have no scenario, Linux has devices.
 * @param editsFor the edits of the text that register a port
 */
export function portRepair(repair: Repair, editsFor: (port: number) => readonly TextEdit[] | null): OwnRepair {
  const ports = parseJson(repair.fields[0]?.after ?? "[]") as readonly number[];
  const port = ports.at(-1);
  if (port === undefined) return repair;
  const edits = editsFor(port);
  if (edits !== null) return { ...repair, sentence: edits.map(sentenceOf).join(" "), edits };
  // What follows the device's part is about a rule.
  const more = repair.rule === null ? "" : repair.sentence.slice(repair.sentence.indexOf(". ") + 1);
  const sentence = `Register UDP port ${port} for VXLAN, as the driver does for: ${vxlanDevice(port)}.${more}`;
  return { ...repair, sentence };
}

/** What numbers of vports mean, which texts do not have. */
const VPORT_NUMBERS = / Vport 0 is the PF, 1 the first VF, and 65535 the wire\.$/;

/** A port field that a language has for TCP and UDP alike. */
const ONE_PORT =
  /^(?!\S*(?:tcp|udp))(\S+) is a field of (TCP|UDP), and (.*?)\. TCP and UDP have port fields of their own/;

/**
 * A mistake whose advice has the words of a text.
 * @param leading an element of the text that would lead frames to a table
 * @param astray what to say of rules that may mean this table, and lead to another one
 */
export function ownMistake(
  mistake: Mistake,
  leading: (table: string) => string | null,
  astray: (table: string) => string,
  hasWildcardMasks: boolean,
): Mistake {
  const [, table = ""] =
    mistake.name === "table-not-linked" ? (/^No rule leads to table "([^"]*)"/.exec(mistake.sentence) ?? []) : [];
  const element = table === "" ? null : leading(table);
  if (element !== null) {
    const sentence = `No rule leads to table "${table}".${astray(table)} This leads all frames there that no earlier rule takes: ${element}`;
    return { ...mistake, sentence };
  }
  const [, port = "", upper = "", why = ""] = ONE_PORT.exec(mistake.sentence) ?? [];
  if (port !== "") return { ...mistake, sentence: `In this rule ${port} is a port of ${upper}, and ${why}.` };
  if (mistake.name === "inverted-mask" && hasWildcardMasks) {
    const sentence = mistake.sentence.replace(
      / A prefix keeps the high bits: .*$/,
      " Here a mask has a 1 for each bit that is ignored.",
    );
    return { ...mistake, sentence };
  }
  // The numbers of functions are the device's.
  if (mistake.name === "source-port-of-other-function")
    return { ...mistake, sentence: mistake.sentence.replace(/ \([^)]*\)/g, "") };
  const said = mistake.sentence.replace(/ to function (\d+), not/, " to VF $1, not").replace(VPORT_NUMBERS, "");
  const sentence = said.replace(
    /(UDP port (\d+)\. Register the port), or/,
    (_, advice: string, port: string) => `${advice}, as the driver does for "${vxlanDevice(port)}", or`,
  );
  return { ...mistake, sentence };
}

/** The edits of a text that make these changes; a priority is the number of the text there. */
function editsOf(rule: string, changes: Repair["fields"], words: RuleWords): readonly TextEdit[] | null {
  const order = changes.find(({ field }) => field === "priority");
  const others = changes.filter((change) => change !== order);
  const edits = others.length === 0 ? [] : words.editsFor(rule, others);
  if (order === undefined || edits === null) return edits;
  const last = words.editForPriority(rule, Number(order.before), Number(order.after));
  return last === null ? null : [...edits, last];
}

function isOrder({ fields: [first, ...more] }: Repair): boolean {
  return first?.field === "priority" && more.length === 0;
}

/** Either rule may be the one whose number can change. */
function orderEdits({ rule, by }: EarlierRule, words: RuleWords): readonly TextEdit[] | null {
  const edit = words.editPast(rule.name, by.name, -1) ?? words.editPast(by.name, rule.name, 1);
  return edit === null ? null : [edit];
}

/** A change of a priority alone: the number is the device's, which is not that of the text. */
function orderSentence(repair: Repair): string | null {
  const {
    rule,
    fields: [{ before, after } = { before: null, after: null }],
  } = repair;
  if (!isOrder(repair) || before === null || after === null) return null;
  const change = Number(after) < Number(before) ? "precedence over" : "less precedence than";
  return `Give rule "${rule}" ${change} the other, by its priority in the text.`;
}

function sentenceOf({ file, line, before, after }: TextEdit): string {
  const change = after === "" ? `take out "${before.trim()}"` : `change "${before}" to "${after}"`;
  return `${file}:${line}: ${change}.`;
}

/** Why a driver puts the first of two rules before the second, by why it gave each its number. */
export function orderText(first: string, second: string): string {
  const [why] = lastColon(first);
  const [other, otherNumber] = lastColon(second);
  return why === other ? `${first}, before ${otherNumber}` : `${first}; the other: ${second}`;
}

/** A text before and after its last colon. */
function lastColon(text: string): [string, string] {
  const at = text.lastIndexOf(": ");
  return [text.slice(0, Math.max(0, at)), text.slice(at < 0 ? 0 : at + 2)];
}
