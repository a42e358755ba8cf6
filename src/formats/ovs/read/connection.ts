/**
 * Connection tracking. The device tracks one connection an object, and not all that pass. As for tc, all
 * frames that `ct` sends on belong to established connections, in their original direction.
 */
import { ZONE_AT, type StateFlags } from "../../text/connection.js";
import { bigOf, numberOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import { act, type Act, type Change, type Flow, type Plain } from "./steps.js";
import { CT, register, type Ask } from "../fields.js";
import type { Piece } from "./text.js";
import type { Masked } from "./values.js";

/** Flags of a state, as Open vSwitch numbers them. */
export const STATES: StateFlags = { new: 1, est: 2, rel: 4, rpl: 8, inv: 16, trk: 32, snat: 64, dnat: 128 };
const ZONE_BITS = 16;
const WHOLE = 0xffffffffn;
const TRACKED = BigInt((STATES["trk"] as number) | (STATES["est"] as number));

/** `+trk+est`, or `VALUE/MASK`. @throws NotImported */
export function stateAsk(word: Word): Ask {
  return { field: register(CT), ...stateOf(word) };
}

function stateOf(word: Word): Masked {
  const { text, place } = word;
  if (!/^[+-]/.test(text)) {
    const [value = "", mask] = text.split("/");
    const bits = mask === undefined ? 0xffn : bigOf({ text: mask, place }, "a mask", 32);
    return { value: bigOf({ text: value, place }, "ct_state", 32) & bits, mask: bits };
  }
  let value = 0n;
  let mask = 0n;
  for (const [, sign, name = ""] of text.matchAll(/([+-])(\w+)/g)) {
    const bit =
      STATES[name] ?? notImported(word, `"${name}" is not a state; states: ${Object.keys(STATES).join(", ")}`);
    mask |= BigInt(bit);
    if (sign === "+") value |= BigInt(bit);
  }
  return { value, mask };
}

/** `ct_zone=N`. */
export function zoneAsk({ value, mask }: Masked): Ask {
  return { field: register(CT), value: value << BigInt(ZONE_AT), mask: mask << BigInt(ZONE_AT) };
}

/** Nothing is known of the connection. */
export const untracked = (): Plain => ({ kind: "change", changes: [set(0n, WHOLE)] });

function set(value: bigint, mask: bigint): Change {
  return { kind: "set", field: register(CT), value, mask };
}

const REASONS: Readonly<Record<string, string>> = {
  commit: "the device does not add connections on its own",
  nat: "the addresses that a connection is translated to are in the tracker",
  exec: "the device does not write marks of connections",
  alg: "the device does not track the connections of other protocols",
};
const OPTIONS = ["commit", "force", "table", "zone", "nat", "exec", "alg", "timeout", "flags"];

/** `ct(commit,zone=N,table=N,nat(...))`: a copy goes on in the table, with the state of its connection. */
export function connection(of: Piece): Act[] {
  const refused: Act[] = [];
  let table: string | undefined;
  let zone: Change = set(0n, 0xffff0000n);
  for (const part of of.split(", \t")) {
    const [, name = ""] = /^(\w+)/.exec(part.text) ?? [];
    const value = part.cut("=")?.[1];
    const reason = REASONS[name];
    if (reason !== undefined)
      refused.push(act({ kind: "refused", text: `ct(${part.text})`, reason, place: part.place }));
    else if (name === "table" && value !== undefined) table = value.unquoted();
    else if (name === "zone" && value !== undefined) zone = zoneOf(value);
    else if (!OPTIONS.includes(name) || name === "table" || name === "zone")
      notImported(part, `ct has no ${part.text}; it has ${OPTIONS.join(", ")}`);
  }
  if (table === undefined) return refused;
  const changes = [set(TRACKED, 0xffffn), zone];
  const goesOn = [
    act({ kind: "clear" }),
    act({ kind: "change", changes }),
    act({ kind: "lookup", table, inPort: undefined }),
  ];
  return [...refused, act({ kind: "clones", lists: [goesOn], tracks: true })];
}

/** A number, or 16 bits of a register. */
function zoneOf(word: Piece): Change {
  const [, number, low] = /^(?:NXM_NX_REG|reg)(\d+)\[(\d+)\.\.\d+\]$/i.exec(word.text) ?? [];
  if (number === undefined || low === undefined)
    return set(BigInt(numberOf(word, "a zone", 16)) << BigInt(ZONE_AT), 0xffff0000n);
  return {
    kind: "copy",
    from: register(Number(number)),
    fromBit: Number(low),
    field: register(CT),
    intoBit: ZONE_AT,
    bits: ZONE_BITS,
  };
}

/** Whether a list sends frames through the tracker. */
export function tracks(acts: readonly Act[]): boolean {
  return acts.some(
    (one) =>
      (one.kind === "clones" && (one.tracks === true || one.lists.some(tracks))) ||
      (one.kind === "write" && tracks(one.acts)),
  );
}

/** A flow of a text in which no frame is tracked: no bit of a state is set. @throws NotImported */
export function withoutTracking(flow: Flow): Flow {
  const { asks } = flow.match;
  const states = asks.filter(isState);
  if (states.some(({ value }) => value !== 0n))
    notImported({ text: flow.text, place: flow.place }, "no flow of the text sends frames through ct");
  if (states.length === 0 && !flow.acts.some(setsState)) return flow;
  const match = { ...flow.match, asks: asks.filter((ask) => !isState(ask)) };
  return { ...flow, match, acts: flow.acts.filter((one) => !setsState(one)) };
}

const isState = ({ field }: { readonly field: string }): boolean => field === register(CT);
const setsState = (one: Act): boolean => one.kind === "change" && one.changes.some(isState);
