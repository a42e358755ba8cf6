/** A rule as text, read into the expressions that `nft -j` prints for it. */
import { namesHint } from "../../../base/nearest.js";
import { quoted } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import { Cursor } from "../../text/words.js";
import { NO_MATCH, NO_SETS, refusalOf, STATEMENTS } from "./elements.js";
import { DEVICE_OF_CHAIN, HEADERS } from "../fields.js";
import type { Json } from "./expressions.js";
import type { Expression } from "./objects.js";
import type { Token } from "./tokens.js";

/** Words that a match begins with, and that the kernel hands to no NIC unless `HEADERS` has the field. */
const MATCHES = [
  ...["ether", "vlan", "arp", "ip", "ip6", "icmp", "icmpv6", "igmp", "tcp", "udp", "udplite", "sctp", "dccp"],
  ...["th", "ah", "esp", "comp", "gre", "geneve", "vxlan", "gretap", "hbh", "rt", "rt0", "rt2", "rt4", "srh", "frag"],
  ...["dst", "mh", "exthdr", "meta", "ct", "socket", "osf", "fib", "ipsec", "numgen", "jhash", "symhash"],
];
/** Keys of `meta` that stand alone. */
const META = [
  ...["iif", "iifname", "iiftype", "iifgroup", "oif", "oifname", "oiftype", "oifgroup", "ibrname", "obrname"],
  ...["mark", "skuid", "skgid", "nftrace", "rtclassid", "cgroup", "pkttype", "cpu"],
];
/** Matches that are one word. */
const RAW = /^@(?:ll|nh|th|ih),?/;
/** Statements, by the words that they begin with. */
const BEGINS: Readonly<Record<string, string>> = {
  dnat: "mangle",
  snat: "mangle",
  masquerade: "mangle",
  redirect: "mangle",
  tproxy: "mangle",
  add: "mangle",
  update: "mangle",
  tcpoption: "mangle",
};

/** @throws NotImported the first part that the kernel does not hand to a NIC */
export function readRule(tokens: readonly Token[]): Expression[] {
  const cursor = new Cursor(tokens);
  const expressions: Expression[] = [];
  while (!cursor.done) {
    const { place, taken } = cursor;
    const json = statement(cursor);
    const words = tokens.slice(taken, cursor.taken).map(({ text }) => text);
    if (json !== undefined) expressions.push({ json, text: words.join(" "), place });
  }
  return expressions;
}

/** undefined: one that does nothing. */
function statement(cursor: Cursor): Json | undefined {
  const word = cursor.next("a statement");
  const read = READERS[word.text];
  if (read !== undefined) return read(cursor);
  const element = STATEMENTS[BEGINS[word.text] ?? word.text];
  if (element !== undefined && "refused" in element) return notImported(word, element.refused);
  if (RAW.test(word.text)) return notImported(word, NO_MATCH);
  if (META.includes(word.text)) return match(cursor, word, "meta", word.text);
  if (MATCHES.includes(word.text)) return match(cursor, word, word.text, cursor.next(`the field of ${word.text}`).text);
  return notImported(
    word,
    `not an nftables statement; ${namesHint(word.text, "statements", [...Object.keys(READERS), ...MATCHES])}`,
  );
}

const READERS: Readonly<Record<string, (cursor: Cursor) => Json | undefined>> = {
  counter(cursor) {
    cursor.take("name");
    if (cursor.peek() === "packets") for (let left = 4; left > 0; left--) cursor.next("packets N bytes N");
    else if (!startsStatement(cursor.peek())) cursor.next("the name of the counter");
    return { counter: null };
  },
  drop: () => ({ drop: null }),
  accept: () => ({ accept: null }),
  comment(cursor) {
    cursor.next("the comment");
    return undefined;
  },
  dup: (cursor) => ({ dup: { addr: target(cursor) } }),
  fwd(cursor) {
    if (cursor.peek() === "to") return { fwd: { dev: target(cursor) } };
    const family = cursor.next("to").text;
    const addr = target(cursor);
    const dev = cursor.take("device") ? cursor.next("the device").text : null;
    return { fwd: { family, addr, dev } };
  },
};

function target(cursor: Cursor): string {
  const to = cursor.next("to");
  if (to.text !== "to") notImported(to, '"to" and a device stand here');
  return cursor.next("the device").text;
}

function startsStatement(text: string | undefined): boolean {
  return text === undefined || [READERS, STATEMENTS, BEGINS].some((of) => text in of) || isMatch(text);
}

function isMatch(text: string): boolean {
  return MATCHES.includes(text) || META.includes(text) || RAW.test(text);
}

const EQUAL = ["==", "eq"];
const COMPARISONS = ["!=", "<", ">", "<=", ">=", "neq", "lt", "gt", "le", "ge", "!"];

function match(cursor: Cursor, { place }: Word, protocol: string, field: string): Json {
  const name = `${protocol} ${field}`;
  const next = cursor.peek();
  if (next === "set") return notImported({ text: `${name} set`, place }, refusalOf(STATEMENTS, "mangle"));
  if (next === "vmap" || next === "map") return notImported(cursor.next("vmap"), refusalOf(STATEMENTS, "vmap"));
  if (!(name in HEADERS) && !DEVICE_OF_CHAIN.includes(name)) return notImported({ text: name, place }, NO_MATCH);
  const plain = protocol === "meta" ? { meta: { key: field } } : { payload: { protocol, field } };
  const left = cursor.take("&") ? { "&": [plain, cursor.next("the mask").text] } : plain;
  const sign = cursor.peek() ?? "";
  if (COMPARISONS.includes(sign))
    return notImported(cursor.next(sign), `the kernel offloads comparisons for equality only, not "${sign}"`);
  if (EQUAL.includes(sign)) cursor.next(sign);
  return { match: { op: "==", left, right: value(cursor) } };
}

/** Ranges of numbers and of addresses; names have dashes too. */
const RANGE = /^[\d.:a-fx]+-[\d.:a-fx]+$/i;
const PREFIX = /^(.+)\/(\d+)$/;

function value(cursor: Cursor): Json {
  const word = cursor.next("a value");
  if (word.text === "{" || word.text === "(") return notImported({ ...word, text: group(word.text, cursor) }, NO_SETS);
  const next = cursor.peek() ?? "";
  if (word.text.startsWith("@") || RANGE.test(word.text) || [",", "|", "/"].includes(next))
    return notImported(word, NO_SETS);
  if (word.text.startsWith("$")) return notImported(word, `a value, not ${quoted(word.text)}`);
  const prefix = PREFIX.exec(word.text);
  if (prefix === null) return word.text;
  return { prefix: { addr: prefix[1] ?? "", len: Number(prefix[2]) } };
}

/** A set as one text. */
function group(opening: string, cursor: Cursor): string {
  const texts = [opening];
  while (!cursor.done && !/[)}]/.test(texts.at(-1) ?? "")) texts.push(cursor.next("}").text);
  return texts.join(" ");
}
