/** RSS contexts: several queues that a rule distributes frames over. */
import { madeName } from "../../../drivers/madeRules.js";
import { namesHint } from "../../../base/nearest.js";
import { ofFunction, type Draft } from "../../reading/draft.js";
import { MatchDraft } from "../../rules/matchDraft.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { numberOf } from "../../text/numbers.js";
import { askType, FLOW_TYPES, type FlowType } from "../fields.js";

export interface RssContext {
  /** Queues by the entries of the indirection table; their number is a power of two. */
  readonly entries: readonly number[];
  readonly key: string | undefined;
  /** Whether both directions of a connection have one hash. */
  readonly isSymmetric: boolean;
}

/** Entries of an indirection table whose queues are no power of two. */
const ENTRIES = 128;
/** Drivers draw a key; this one is from the test vectors of Toeplitz hashes. */
const KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";

/** Words of `xfrm`: what is done to the input of the hash. */
const TRANSFORMATIONS: Readonly<Record<string, boolean>> = {
  none: false,
  "symmetric-xor": true,
  "symmetric-or-xor": true,
};

/** A context whose entries the driver has chosen: all queues in turn. */
export function equalContext(queues: number): RssContext {
  const shares = Array.from({ length: queues }, () => 1);
  return { entries: entriesOf(shares, queues), key: undefined, isSymmetric: false };
}

/**
 * Reads the words of a context besides its number.
 *
 * @param before what it was, which stays where no word changes it
 * @throws NotImported
 */
export function readContext(words: Cursor, first: Word, before?: RssContext): RssContext {
  let [start, equal, key] = [0, undefined as number | undefined, before?.key];
  let isSymmetric = before?.isSymmetric ?? false;
  let weights: number[] | undefined;
  while (!words.done) {
    const word = words.next("a word");
    if (word.text === "start") start = numberOf(words.next("a queue"), "a queue", 16);
    else if (word.text === "equal") equal = numberOf(words.next("a number"), "a number of queues", 16);
    else if (word.text === "hkey") key = words.next("a key").text.replaceAll(":", "");
    else if (word.text === "hfunc") {
      const name = words.next("a function");
      if (name.text !== "toeplitz") notImported(name, "TIRs have the Toeplitz hash");
    } else if (word.text === "xfrm") {
      const name = words.next("a transformation");
      isSymmetric =
        TRANSFORMATIONS[name.text] ??
        notImported(name, namesHint(name.text, "transformations", Object.keys(TRANSFORMATIONS)));
    } else if (word.text === "weight") {
      weights = [];
      while (/^\d+$/.test(words.peek() ?? "")) weights.push(numberOf(words.next("a weight"), "a weight", 16));
    } else notImported(word, `"${word.text}" is not an option of a context: start, equal, weight, hkey, hfunc, xfrm`);
  }
  if (key !== undefined && !/^[\da-f]{80}$/i.test(key)) notImported(first, "a key has 40 bytes");
  if (before !== undefined && weights === undefined && equal === undefined)
    return { entries: before.entries, key, isSymmetric };
  const shares = weights ?? Array.from({ length: equal ?? 0 }, () => 1);
  const total = shares.reduce((sum, one) => sum + one, 0);
  if (total === 0) return notImported(first, "its queues are missing: equal N, or weight W0 W1 ...");
  return { entries: entriesOf(shares, total).map((queue) => queue + start), key, isSymmetric };
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
    ...(isHashed && context.isSymmetric ? { rx_hash_symmetric: true } : {}),
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

/** Flow types that the driver hashes each in its own way; others are in the first queue. */
const SPREAD = ["tcp4", "udp4", "tcp6", "udp6", "ip4", "ip6"] as const;

/** Adds a table that spreads frames over the queues of a context. @returns its name */
export function spreadTable(draft: Draft, device: string, vport: number, context: RssContext): string {
  const table = draft.freeName("tables", `${device} rss`);
  draft.push("tables", { name: table, ...ofFunction(vport), level: 1 });
  SPREAD.forEach((of, priority) => {
    const type = FLOW_TYPES[of] as FlowType;
    const match = new MatchDraft();
    askType(match, type);
    draft.push("rules", {
      name: draft.freeName("rules", madeName(`${table}: ${type.title}`)),
      table,
      priority,
      match: match.toScenario(),
      actions: [{ tir: tirOf(draft, device, vport, 0, context, type) }],
    });
  });
  draft.push("rules", {
    name: draft.freeName("rules", madeName(`${table}: other frames`)),
    table,
    priority: SPREAD.length,
    actions: [{ queue: draft.queue(`${device} queue 0`, vport) }],
  });
  return table;
}
