/** Decodes the state of objects: what it was before an action, and after it. */
import { inCall } from "../../errors.js";
import { CONNECTION_CONTEXT, ConnectionState, SegmentKind } from "../../abi/connection.js";
import { ESP_IV, ESP_NUMBER, ESP_PACKETS, ESP_UP, ESP_UP_IVS, ESP_UP_NUMBERS } from "../../abi/esp.js";
import { METER_COMMITTED, METER_EXCESS, METER_TIME } from "../../abi/state.js";
import { StateKind } from "../../abi/trace.js";
import { hexOf } from "../../base/hex.js";
import { connectionFromBytes } from "../../model/action/connection.js";
import type { StateChange } from "./trace.js";

type Values = Readonly<Record<string, string>>;

/** What an object is called, and its values as text. */
interface Decoder {
  readonly object: string;
  /** Its first value is the one that a read shows. */
  readonly values: (view: DataView, bytes: Uint8Array) => Values;
}

const u64 = (view: DataView, at: number): string => view.getBigUint64(at, true).toString();

const DECODERS: Readonly<Record<number, Decoder>> = {
  [StateKind.counter]: {
    object: "counter",
    values: (view) => ({ packets: u64(view, 0), bytes: u64(view, 8) }),
  },
  [StateKind.meter]: {
    object: "meter",
    values: (view) => ({
      "committed tokens": u64(view, METER_COMMITTED),
      "excess tokens": u64(view, METER_EXCESS),
      time: u64(view, METER_TIME),
    }),
  },
  [StateKind.first_hit]: { object: "first-hit flags", values: (_, bytes) => ({ flags: `0x${hexOf(bytes)}` }) },
  [StateKind.connection]: { object: "connection", values: (_, bytes) => connectionValues(bytes) },
  [StateKind.esp]: {
    object: "association",
    values: (view) => ({
      "sequence number": u64(view, ESP_NUMBER),
      IV: u64(view, ESP_IV),
      packets: u64(view, ESP_PACKETS),
      "used up": usedUp(view.getUint8(ESP_UP)),
    }),
  },
  [StateKind.replay_window]: { object: "replay window", values: (view) => windowValues(view) },
  [StateKind.queue]: {
    object: "receive queue",
    values: (view) => ({ "requests taken": view.getUint32(0, true).toString() }),
  },
  [StateKind.completion_queue]: {
    object: "completion queue",
    values: (view) => ({ completions: view.getUint32(0, true).toString() }),
  },
  [StateKind.reason]: { object: "reason", values: (view) => ({ frames: u64(view, 0) }) },
} satisfies Record<StateKind, Decoder>;

/** The values that changed; without a change the first value, which was read. */
export function stateChange(kind: number, name: string, before: Uint8Array, after: Uint8Array): StateChange {
  const { object, values } = DECODERS[kind] as Decoder;
  const was = values(viewOf(before), before);
  const is = values(viewOf(after), after);
  const all = Object.keys({ ...was, ...is }).map((value) => ({
    value,
    before: was[value] ?? "0",
    after: is[value] ?? "0",
  }));
  const changed = all.filter((one) => one.before !== one.after);
  return { object, name, values: changed.length > 0 ? changed : all.slice(0, 1) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function usedUp(up: number): string {
  const names = [(up & ESP_UP_NUMBERS) !== 0 ? "numbers" : "", (up & ESP_UP_IVS) !== 0 ? "IVs" : ""];
  return names.filter((name) => name !== "").join(", ") || "nothing";
}

/** Words of 64 bits: number n is bit n mod 64. */
function windowValues(view: DataView): Values {
  const values: Record<string, string> = {};
  for (let at = 0; at + 8 <= view.byteLength; at += 8) {
    values[`word ${at / 8}`] = `0x${view.getBigUint64(at, true).toString(16).padStart(16, "0")}`;
  }
  return values;
}

/** The state comes first. Other fields have the names of the device's context (docs/conntrack.md). */
function connectionValues(bytes: Uint8Array): Values {
  return inCall("trace", () => {
    const { reply, original, state, valid, last_index, ...rest } = connectionFromBytes(
      "connection",
      bytes.subarray(0, CONNECTION_CONTEXT),
    );
    const values: Record<string, string> = {
      state: stateText(valid, state, last_index),
      last_index: segment(last_index),
    };
    for (const [name, value] of Object.entries(rest)) values[name] = String(value);
    for (const [side, fields] of Object.entries({ original, reply })) {
      for (const [name, value] of Object.entries(fields)) values[`${side}.${name}`] = String(value);
    }
    return values;
  });
}

/** Before it is valid, a connection is empty, or half-open after a SYN (docs/conntrack.md). */
function stateText(valid: number, state: number, last: number): string {
  if (valid === 0) return last === (SegmentKind.syn as number) ? "half-open" : "empty";
  return (ConnectionState[state] ?? String(state)).replaceAll("_", " ");
}

function segment(kind: number): string {
  return (SegmentKind[kind] ?? String(kind)).replaceAll("_", "-").toUpperCase();
}
