/** RSS contexts: several queues that a rule distributes frames over. */
import type { Draft } from "../../reading/draft.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { numberOf } from "../../text/numbers.js";
import type { FlowType } from "../fields.js";

export interface RssContext {
  /** Queues by the entries of the indirection table; their number is a power of two. */
  readonly entries: readonly number[];
  readonly key: string | undefined;
}

/** Entries of an indirection table whose queues are no power of two. */
const ENTRIES = 128;
/** Drivers draw a key; this one is from the test vectors of Toeplitz hashes. */
const KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";

/** Reads the words after `context new`. @throws NotImported */
export function readContext(words: Cursor, first: Word): RssContext {
  let [start, equal, key]: [number, number | undefined, string | undefined] = [0, undefined, undefined];
  let weights: number[] | undefined;
  while (!words.done) {
    const word = words.next("a word");
    if (word.text === "start") start = numberOf(words.next("a queue"), "a queue", 16);
    else if (word.text === "equal") equal = numberOf(words.next("a number"), "a number of queues", 16);
    else if (word.text === "hkey") key = words.next("a key").text.replaceAll(":", "");
    else if (word.text === "hfunc") {
      const name = words.next("a function");
      if (name.text !== "toeplitz") notImported(name, "TIRs have the Toeplitz hash");
    } else if (word.text === "weight") {
      weights = [];
      while (/^\d+$/.test(words.peek() ?? "")) weights.push(numberOf(words.next("a weight"), "a weight", 16));
    } else notImported(word, `"${word.text}" is no part of a context: start, equal, weight, hkey, hfunc`);
  }
  if (key !== undefined && !/^[\da-f]{80}$/i.test(key)) notImported(first, "a key has 40 bytes");
  const shares = weights ?? Array.from({ length: equal ?? 0 }, () => 1);
  const total = shares.reduce((sum, one) => sum + one, 0);
  if (total === 0) return notImported(first, "which queues it has is not said: equal N, or weight W0 W1 ...");
  return { entries: entriesOf(shares, total).map((queue) => queue + start), key };
}

function entriesOf(shares: readonly number[], total: number): number[] {
  const isPower = (n: number): boolean => (n & (n - 1)) === 0;
  const isEqual = shares.every((one) => one === 1);
  const length =
    isEqual && isPower(shares.length) ? shares.length : Math.max(ENTRIES, 2 ** Math.ceil(Math.log2(shares.length)));
  if (isEqual) return Array.from({ length }, (_, n) => n % shares.length);
  // Each queue has the entries up to its share of the sum so far.
  let [queue, sum] = [0, shares[0] ?? 0];
  return Array.from({ length }, (_, n) => {
    while (n >= Math.floor((length * sum) / total) && queue < shares.length - 1) sum += shares[++queue] ?? 0;
    return queue;
  });
}

/** The TIR of a context for the frames of a flow type. */
export function tirOf(
  draft: Draft,
  device: string,
  vport: number,
  id: number,
  context: RssContext,
  type: FlowType,
): string {
  const queues = context.entries.map((queue) => draft.queue(`${device} queue ${queue}`, vport));
  const rqt = draft.once("rqts", { name: `${device} context ${id}`, queues });
  const ports = type.ports === "tcp" || type.ports === "udp" ? type.ports : undefined;
  const fields = ["src_ip", "dst_ip", ...(ports === undefined ? [] : ["l4_sport", "l4_dport"])] as const;
  const isHashed = type.version !== undefined;
  return draft.once("tirs", {
    name: `${device} context ${id} ${type.title}`,
    rqt,
    rx_hash_fn: isHashed ? "toeplitz" : "none",
    ...(isHashed
      ? {
          rx_hash_toeplitz_key: context.key ?? KEY,
          rx_hash_field_selector_outer: {
            l3_prot_type: type.version === 4 ? "ipv4" : "ipv6",
            l4_prot_type: ports ?? "tcp",
            selected_fields: [...fields],
          },
        }
      : {}),
  } as Parameters<Draft["once"]>[1] & { name: string });
}
