/** Prints explanations for people: the answer, the chain of reasons, differing bits marked, repairs. */
import { printableRecord } from "../../base/terminal.js";
import { inCall } from "../../errors.js";
import { fieldNamed } from "../../model/match/fields.js";
import { fullMask, isEnumeration, parseTerm } from "../../model/match/term.js";
import { wrap } from "../print/wrap.js";
import type { Difference, Explanation, Near, Reason, Repair } from "./explanation.js";

export interface PrintOptions {
  /** Columns of the text, 40 at least. @default 80 */
  readonly width?: number;
  /** Whether to underline with ANSI escape sequences; without it a line of carets marks the bits. @default false */
  readonly colour?: boolean;
  /** What a match field is called where a rule is compared. @default its name in scenario files */
  readonly nameOf?: (field: string, rule: string) => string;
}

interface Page {
  readonly width: number;
  readonly colour: boolean;
  readonly nameOf: (field: string, rule: string) => string;
}

/** The text of an explanation, several lines without a last line break. */
export function printExplanation(explanation: Explanation, options: PrintOptions = {}): string {
  const page = pageOf(options);
  const { sentence, reasons, mistake, repairs } = printableRecord(explanation);
  const lines = wrap(sentence, page.width, "", "");
  // What the answer says already has no line of its own.
  const more = reasons.filter((reason) => !sentence.includes(saidOf(reason)));
  for (const reason of reasons) {
    const at = more.indexOf(reason) + 1;
    if (at > 0) {
      const number = more.length === 1 ? "  " : `  ${at}. `;
      lines.push(...wrap(reason.sentence, page.width, number, " ".repeat(number.length)));
    }
    lines.push(...detailsOf(reason, page));
  }
  if (mistake !== null)
    lines.push(...wrap(`${mistake.name}: ${mistake.sentence}`, page.width, "  looks like  ", INDENT));
  for (const repair of repairs) {
    const { of } = repair;
    lines.push(...wrap(repairText(repair), page.width, `  ${`change the ${of}`.padEnd(19)} `, " ".repeat(22)));
  }
  return lines.join("\n");
}

/** What the answer has of a reason that it says: it may name the rule in other words. */
function saidOf({ kind, sentence }: Reason): string {
  return kind === "no match" ? sentence.slice(sentence.indexOf(" does not match")) : sentence;
}

/** The text of the nearest rules, nearest first. */
export function printNearest(nearest: readonly Near[], options: PrintOptions = {}): string {
  const page = pageOf(options);
  return printableRecord(nearest)
    .flatMap(({ rule, table, differences }) => [
      ...wrap(`${rule.kind} "${rule.name}" of table ${table.table}`, page.width, "", "  "),
      ...differenceLines({ rule, differences }, page, "    "),
    ])
    .join("\n");
}

/** A repair, and what it does to other frames. */
export function repairText({ sentence, others }: Repair): string {
  return others === null ? sentence : `${sentence} ${others}`;
}

const INDENT = " ".repeat(14);

function pageOf({ width = 80, colour = false, nameOf = (field) => field }: PrintOptions): Page {
  return { width: Math.max(40, width), colour, nameOf };
}

function detailsOf(reason: Reason, page: Page): string[] {
  return reason.kind === "no match" ? differenceLines(reason, page, "     ") : [];
}

type Compared = Pick<Near, "rule" | "differences">;

function differenceLines({ rule, differences }: Compared, page: Page, indent: string): string[] {
  const names = differences.map(({ field }) => page.nameOf(field, rule.name));
  const longest = Math.max(0, ...names.map(({ length }) => length));
  return differences.flatMap((one, i) => {
    const head = `${indent}${(names[i] as string).padEnd(Math.min(longest, 32))}  `;
    const rest = " ".repeat(head.length);
    if (one.found === null) {
      const absent = `expected ${one.wanted}; ${one.absent ?? "the header is absent"}`;
      return wrap(absent, page.width, head, rest);
    }
    return comparison(one, one.found, page, head, rest);
  });
}

/** Expected above found, with the differing bits or characters marked. */
function comparison(one: Difference, value: string, page: Page, head: string, rest: string): string[] {
  const { wanted, note } = one;
  const rows = markedRows(one, value);
  const notes = note === null ? [] : wrap(note, page.width, rest, rest);
  if (rows === null) return [...wrap(`expected ${wanted}, found ${value}`, page.width, head, rest), ...notes];
  const label = Math.max(wanted.length, value.length);
  const beside = !rows.own && rest.length + LABEL + label + 2 + rows.marks.length <= page.width;
  const start = rest + " ".repeat(beside ? LABEL + label + 2 : LABEL);
  const found = underlined(rows.found, rows.marks, page);
  const lines = beside
    ? [`${head}expected ${wanted.padEnd(label)}  ${rows.wanted}`, `${rest}found    ${value.padEnd(label)}  ${found}`]
    : [`${head}expected ${wanted}`, `${rest}found    ${rows.own ? found : value}`];
  if (!beside && !rows.own) lines.push(start + rows.wanted, start + found);
  return page.colour ? [...lines, ...notes] : [...lines, (start + rows.marks).trimEnd(), ...notes];
}

/** The length of "expected ". */
const LABEL = 9;

interface MarkedRows {
  readonly wanted: string;
  readonly found: string;
  /** "^" under each character that differs. */
  readonly marks: string;
  /** Whether the rows are the values themselves, not their bits. */
  readonly own: boolean;
}

/** Bits of a number; the parts of an address. Null where the values cannot be set side by side. */
function markedRows({ field: name, wanted, bits }: Difference, found: string): MarkedRows | null {
  return inCall("printExplanation", () => {
    const field = fieldNamed(name);
    if (field === undefined || bits.length === 1 || !bits.includes("1")) return null;
    if (field.kind !== "number") return addressRows(wanted, found, bits, field.kind === "ipv4" ? "." : ":");
    const [want, have] = [wanted, found].map((text) => parseTerm(name, field, text));
    if (want?.kind !== "bits" || have?.kind !== "bits") return null;
    if (isEnumeration(field) && want.mask === fullMask(field)) return null;
    const digits = (value: bigint): string => value.toString(2).padStart(bits.length, "0");
    const mask = digits(want.mask);
    const masked = Array.from(digits(want.value), (bit, i) => (mask.charAt(i) === "0" ? "." : bit)).join("");
    return { wanted: masked, found: digits(have.value), marks: caretsOf(bits), own: false };
  });
}

function caretsOf(bits: string): string {
  return bits.replaceAll(/[0.]/g, " ").replaceAll("1", "^");
}

/** Marks the parts of an address in which a bit differs. Both texts have as many parts, except IPv6 ones with "::". */
function addressRows(wanted: string, found: string, bits: string, separator: string): MarkedRows | null {
  const parts = found.split(separator);
  const size = separator === "." || bits.length === 48 ? 8 : 16;
  if (parts.length * size !== bits.length) return null;
  const marks = parts
    .map((part, i) => (bits.slice(i * size, (i + 1) * size).includes("1") ? "^" : " ").repeat(part.length))
    .join(" ");
  return { wanted, found, marks, own: true };
}

function underlined(text: string, marks: string, { colour }: Page): string {
  if (!colour) return text;
  const marked = Array.from(text, (character, i) =>
    marks.charAt(i) === "^" ? `${UNDERLINE}${character}${PLAIN}` : character,
  );
  return marked.join("").replaceAll(`${PLAIN}${UNDERLINE}`, "");
}

const UNDERLINE = "\u001b[4m";
const PLAIN = "\u001b[24m";
