/**
 * `set conntrack`: the connection that the next `flow indirect_action ... conntrack` makes.
 *
 *     set conntrack com peer 1 is_orig 1 enable 1 live 1 sack 1 cack 0 last_dir 0 liberal 0 state 1 max_ack_win 7 ...
 *     set conntrack orig scale 7 fin 0 acked 1 unack_data 0 sent_end 2632987379 reply_end 2633016339 max_win 28960 ...
 *     set conntrack rply scale 7 ...
 *
 * The names are those of `rte_flow_action_conntrack` and of the device's context (docs/conntrack.md); the mlx5 driver
 * copies the one to the other, and sets `valid`.
 */
import type { Scenario } from "../../../../scenario/document.js";
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { numberAt, unknownWord } from "../values.js";
import { readKeyed } from "./keyed.js";

type Context = NonNullable<NonNullable<Scenario["asoObjects"]>[number]["conn_track"]>;
type Side = NonNullable<Context["original"]>;

/** A connection, as rules name it. */
export interface Connection {
  /** The name of its ASO object. */
  readonly name: string;
  readonly context: Context;
  /** Whether rules made from now on track frames of the original direction. */
  readonly isOriginal: boolean;
}

const STATES = ["syn_received", "established", "fin_wait", "close_wait", "last_ack", "time_wait"] as const;
const LAST_INDEXES = { 0: "none", 1: "syn", 2: "syn_ack", 4: "fin", 8: "ack", 16: "rst" } as const;

/** The keys of each part of the command and their bits, in their order. */
const COMMON = {
  peer: 16,
  is_orig: 1,
  enable: 1,
  live: 1,
  sack: 1,
  cack: 1,
  last_dir: 1,
  liberal: 1,
  state: 3,
  max_ack_win: 3,
  r_lim: 3,
  last_win: 16,
  last_seq: 32,
  last_ack: 32,
  last_end: 32,
  last_index: 5,
};
const SIDE = { scale: 4, fin: 1, acked: 1, unack_data: 1, sent_end: 32, reply_end: 32, max_win: 32, max_ack: 32 };
const PARTS = ["com", "orig", "rply"] as const;

type Common = Record<keyof typeof COMMON, number>;

export class Conntrack {
  #common: Common | undefined;
  readonly #sides: { orig: Side; rply: Side } = { orig: {}, rply: {} };
  /** Parts whose last command was refused. */
  readonly #refused = new Set<string>();

  /** `set conntrack com|orig|rply KEY VALUE...`. @throws NotImported */
  set(words: Cursor): void {
    const word = words.next("com, orig or rply");
    const part = PARTS.find((one) => one === word.text) ?? unknownWord(word, "part of a connection", PARTS);
    const command = `set conntrack ${part}`;
    this.#refused.add(part);
    if (part === "com") this.#common = numbersOf(command, COMMON, words, checkCommon);
    else {
      const { fin, acked, unack_data, ...same } = numbersOf(command, SIDE, words);
      this.#sides[part] = { ...same, close_initiated: fin, max_ack_seen: acked, data_unacked: unack_data };
    }
    this.#refused.delete(part);
  }

  /** The connection as it is set now. @throws NotImported it was not set */
  current(name: string, word: Word): Connection {
    for (const part of this.#refused) notImported(word, `the "set conntrack ${part}" before it is not imported`);
    const common = this.#common ?? notImported(word, 'there is no "set conntrack com" before this');
    return { name, context: contextOf(common, this.#sides.orig, this.#sides.rply), isOriginal: common.is_orig === 1 };
  }
}

function numbersOf<Key extends string>(
  command: string,
  bits: Readonly<Record<Key, number>>,
  words: Cursor,
  check?: (key: string, value: number, word: Word) => void,
): Record<Key, number> {
  const values: Record<string, number> = {};
  readKeyed(command, Object.keys(bits), words, (key, word) => {
    const value = Number(numberAt(word, key, bits[key as Key]));
    check?.(key, value, word);
    values[key] = value;
  });
  return values;
}

function checkCommon(key: string, value: number, word: Word): void {
  if (key === "state" && STATES[value] === undefined) notImported(word, `states are 0 to ${STATES.length - 1}`);
  if (key === "last_index" && !(value in LAST_INDEXES))
    notImported(word, `last_index is one of ${Object.keys(LAST_INDEXES).join(", ")}`);
}

function contextOf(common: Common, original: Side, reply: Side): Context {
  const { liberal } = common;
  const numbers = {
    valid: 1,
    freeze_track: 1 - common.enable,
    connection_assured: common.live,
    sack_permitted: common.sack,
    challenged_acked: common.cack,
    max_ack_window: common.max_ack_win,
    retransmission_limit: common.r_lim,
    last_win: common.last_win,
    last_dir: common.last_dir,
    last_seq: common.last_seq,
    last_ack: common.last_ack,
    last_end: common.last_end,
  };
  return {
    ...withoutZeros(numbers),
    state: STATES[common.state] ?? "syn_received",
    last_index: LAST_INDEXES[common.last_index as keyof typeof LAST_INDEXES],
    original: withoutZeros({ ...original, liberal }),
    reply: withoutZeros({ ...reply, liberal }),
  };
}

function withoutZeros<T extends Readonly<Record<string, number>>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0)) as Partial<T>;
}
