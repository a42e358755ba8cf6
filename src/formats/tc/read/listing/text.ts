/**
 * The text of `tc filter show`: a line for each filter, then its keys and its actions, a line for each.
 *
 *     filter protocol ip pref 1 flower chain 0 handle 0x1
 *       dst_ip 10.0.0.1
 *       in_hw in_hw_count 1
 *             action order 1: mirred (Egress Redirect to device eth1) stolen
 */
import type { Place, Word } from "../../../text/refusal.js";
import { hookOf, KEY_NAMES, type Listed, type ListedHead } from "./listed.js";
import { actionWords } from "./textActions.js";

/** A filter of the text. Its words are read when they are needed: a long listing has millions. */
export interface TextFilter {
  readonly place: Place;
  /** The lines of the text, of which those from `place.line` up to and without `end` are the filter's. */
  readonly source: readonly string[];
  end: number;
}

const HEAD = /^(.*?)\bfilter((?:\s+(?:dev|block|parent)\s+\S+|\s+ingress){0,4}\s+protocol\s+\S+\s+pref\s+\d+\s+\w+)/;
/** What a listing has besides keys and actions. */
const DETAIL =
  /^(?:action order|index \d|ref \d|random type|Action statistics|Sent |backlog |cookie |no_percpu|used_hw_stats|hw_stats|installed |key #\d|key_id |(?:src|dst)_(?:ip|port|mac) |nocsum|csum|ttl \d|tos 0x|geneve_opts? |vxlan_opts? |rate \d|lse depth|match \w+\/|not_in_hw|in_hw|skip_sw|skip_hw|eth_type |enc_|ip_|ct_|vlan_|cvlan_|icmp_|tcp_flags |arp_|mpls|indev |num_of_vlans |\.\.\.)/;

/** Takes the listings out of a text. @returns their filters, and the text without them, whose lines stay in place */
export function takeListings(text: string): { filters: TextFilter[]; rest: string } {
  const filters: TextFilter[] = [];
  const source = text.split("\n");
  let open: TextFilter | undefined;
  const rest = source.map((raw, n) => {
    const line = cleaned(raw);
    const head = line.includes("filter") ? HEAD.exec(line) : null;
    if (head !== null && !/\btc\b/.test(head[1] ?? "")) {
      open = { place: { line: n + 1, column: (head[1] ?? "").length + 1 }, source, end: n + 1 };
      filters.push(open);
      return "";
    }
    if (open === undefined) return raw;
    const from = indentOf(line);
    if (from === line.length) return "";
    if (!DETAIL.test(line.slice(from)) && !/^[\s>|+]*\t| {2}/.test(line.slice(0, from))) {
      open = undefined;
      return raw;
    }
    open.end = n + 1;
    return "";
  });
  return { filters, rest: rest.join("\n") };
}

function cleaned(raw: string): string {
  const line = raw.trimEnd();
  return line.includes("\u00a0") ? line.replaceAll("\u00a0", " ") : line;
}

/** Where a line begins after blanks and marks of quotations. */
function indentOf(line: string): number {
  return /^(?:\s*[>|+](?=\s|$))*\s*/.exec(line)?.[0].length ?? 0;
}

/** The lines of keys and actions, in words. */
function linesOf({ place, source, end }: TextFilter): Word[][] {
  const lines: Word[][] = [];
  for (let n = place.line; n < end; n++) {
    const line = cleaned(source[n] as string);
    const from = indentOf(line);
    if (from < line.length) lines.push(wordsIn(line, from, n + 1));
  }
  return lines;
}

function wordsIn(line: string, from: number, number: number): Word[] {
  return [...line.slice(from).matchAll(/\S+/g)].map(({ 0: text, index }) => ({
    text,
    place: { line: number, column: from + index + 1 },
  }));
}

/**
 * A filter in the words of a command. Undefined for the line that says only that the priority exists.
 * @throws NotImported
 */
export function listedOf(filter: TextFilter, assume: (word: Word, reason: string) => void): Listed | undefined {
  const { head, more } = headOf(filter);
  const lines = linesOf(filter);
  const { kind, handle } = head;
  const exists = kind.text === "u32" ? lines.length > 0 : handle !== undefined || lines.length > 0;
  if (!exists) return undefined;
  const words: Word[] = [...more];
  const actions: Word[][] = [];
  for (const line of lines) {
    const [first, second] = line as [Word, Word | undefined];
    if (first.text === "action" && second?.text === "order") {
      const number = line[2] ?? second;
      if (!/^\d+:$/.test(number.text)) assume(number, "not the number of an action");
      actions.push([...line.slice(3)]);
    } else if (actions.length > 0) actions.at(-1)?.push(...detailOf(line, assume));
    else words.push(...keysOf(line));
  }
  for (const action of actions) words.push(...actionWords(action, assume));
  return { hook: hookOf(head), words };
}

/** The first line, without what stands in front of it. */
export function headLineOf({ place, source }: TextFilter): string {
  return cleaned(source[place.line - 1] as string).slice(place.column - 1);
}

function headOf({ place, source }: TextFilter): { head: ListedHead; more: Word[] } {
  const head = wordsIn(cleaned(source[place.line - 1] as string), place.column - 1, place.line);
  const found: Record<string, Word> = {};
  const more: Word[] = [];
  let kind: Word = { text: "", place };
  for (let n = 1; n < head.length; n++) {
    const word = head[n] as Word;
    const next = head[n + 1];
    if (/^(?:dev|block|parent|protocol|pref|chain|handle)$/.test(word.text) && next !== undefined) {
      found[word.text] = next;
      n++;
      if (word.text !== "pref") continue;
      kind = head[++n] ?? kind;
    } else if (word.text !== "ingress") more.push(word);
  }
  return { head: { place, kind, ...found }, more };
}

/** A line of keys and flags: one key, or flags after each other. */
function keysOf(line: readonly Word[]): Word[] {
  const [first, ...values] = line as [Word, ...Word[]];
  if (/^(?:used_hw_stats|cookie|\.\.\.)/.test(first.text)) return [];
  const name = KEY_NAMES[first.text];
  const words = name === undefined ? [...line] : [{ ...first, text: name }, ...values];
  const hits = words.findIndex(({ text }) => text.startsWith("("));
  return hits < 0 ? words : words.slice(0, hits);
}

const NOISE =
  /^(?:index|ref|Action|Sent|backlog|cookie|no_percpu|used_hw_stats|hw_stats|installed|rate \d+[A-Za-z]\w* \d+pps|random type none|\.\.\.)/;
/** The words of such lines: names, and numbers with a unit. */
const NOISE_WORD =
  /^(?:index|ref|bind|installed|used|firstused|expires|sec|Action|statistics:|Sent|software|hardware|bytes|pkts?|\(dropped|overlimits|requeues|backlog|rate|cookie|no_percpu|skip_hw|skip_sw|in_hw|not_in_hw|in_hw_count|used_hw_stats|hw_stats|immediate|delayed|disabled|any|random|type|none|pass|val|\.\.\.|-?[\d.]+(?:[KMGT]?i?(?:bit|bps|pps|b|p|B))?[,)]?|[\da-f]+)$/;

/** A line of an action, without numbers and statistics. */
function detailOf(line: readonly Word[], assume: (word: Word, reason: string) => void): readonly Word[] {
  if (!NOISE.test(line.map(({ text }) => text).join(" "))) return line;
  for (const word of line) if (!NOISE_WORD.test(word.text)) assume(word, "not a statistic that tc prints: ignored");
  return [];
}
