/**
 * Connections, as the 64 bytes of a connection tracking object and as objects that programs read
 * and write. Names are those of the device's context (docs/conntrack.md). MODEL: a device changes a
 * context through work requests.
 */
import { CONNECTION_CONTEXT } from "../../abi/connection.js";
import { refuse } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { checkBytes, checkObject, unsigned } from "../../base/checks.js";

/** One direction of a connection. Flags are 0 or 1. */
export interface ConnectionSide {
  max_ack: number;
  max_win: number;
  reply_end: number;
  sent_end: number;
  /** Window scale; 15 for none. */
  scale: number;
  close_initiated: number;
  liberal: number;
  data_unacked: number;
  max_ack_seen: number;
}

/** The part that both directions share. Flags are 0 or 1. */
export interface ConnectionShared {
  last_end: number;
  last_ack: number;
  last_seq: number;
  last_win: number;
  /** 1 for the original direction. */
  last_dir: number;
  /** 0 none, 1 SYN, 2 SYN-ACK, 4 FIN, 8 ACK, 16 RST. */
  last_index: number;
  valid: number;
  /** 0 SYN received, 1 established, 2 FIN wait, 3 close wait, 4 last ACK, 5 time wait. */
  state: number;
  freeze_track: number;
  connection_assured: number;
  sack_permitted: number;
  challenged_acked: number;
  heartbeat: number;
  max_ack_window: number;
  retransmission_counter: number;
  limit_exceeded: number;
  retransmission_limit: number;
}

export interface Connection extends ConnectionShared {
  reply: ConnectionSide;
  original: ConnectionSide;
}

/** A connection to write; missing fields are 0. */
export interface ConnectionFields extends Partial<ConnectionShared> {
  reply?: Partial<ConnectionSide>;
  original?: Partial<ConnectionSide>;
}

/**
 * First bit, counted from the most significant bit of the context, and width. No field crosses a
 * word.
 */
type Places<T> = Readonly<Record<keyof T, readonly [bit: number, width: number]>>;

const WORD = 32;

const sidePlaces = (byte: number, flags: number): Places<ConnectionSide> => ({
  max_ack: [8 * byte, WORD],
  max_win: [8 * byte + 32, WORD],
  reply_end: [8 * byte + 64, WORD],
  sent_end: [8 * byte + 96, WORD],
  scale: [8 * flags, 4],
  close_initiated: [8 * flags + 4, 1],
  liberal: [8 * flags + 5, 1],
  data_unacked: [8 * flags + 6, 1],
  max_ack_seen: [8 * flags + 7, 1],
});

const REPLY = sidePlaces(0, 56);
const ORIGINAL = sidePlaces(16, 58);
const SHARED: Places<ConnectionShared> = {
  last_end: [256, WORD],
  last_ack: [288, WORD],
  last_seq: [320, WORD],
  last_win: [352, 16],
  last_dir: [378, 1],
  last_index: [379, 5],
  valid: [480, 1],
  state: [481, 3],
  freeze_track: [484, 1],
  connection_assured: [497, 1],
  sack_permitted: [498, 1],
  challenged_acked: [499, 1],
  heartbeat: [500, 1],
  max_ack_window: [501, 3],
  retransmission_counter: [505, 3],
  limit_exceeded: [508, 1],
  retransmission_limit: [509, 3],
};

const widthsOf = <T>(places: Places<T>): Readonly<Record<keyof T, number>> =>
  Object.fromEntries(
    Object.entries<readonly [number, number]>(places).map(([name, [, width]]) => [name, width]),
  ) as Record<keyof T, number>;

/** Widths of the fields of one direction, and of the shared fields. */
export const SIDE_WIDTHS = widthsOf(REPLY);
export const SHARED_WIDTHS = widthsOf(SHARED);

/**
 * Encodes a connection as 64 bytes; reserved bits are 0.
 * @throws EINVAL a value does not fit its field
 */
export function connectionBytes(path: string, fields: ConnectionFields): Uint8Array {
  checkObject(path, fields);
  const { reply = {}, original = {}, ...rest } = fields;
  const view = new DataView(new ArrayBuffer(CONNECTION_CONTEXT));
  put(path, view, SHARED, rest);
  put(`${path}.reply`, view, REPLY, reply);
  put(`${path}.original`, view, ORIGINAL, original);
  return new Uint8Array(view.buffer);
}

/**
 * Decodes 64 bytes; reserved bits are ignored.
 * @throws EINVAL the length is not 64
 */
export function connectionFromBytes(path: string, bytes: Uint8Array): Connection {
  checkBytes(path, bytes);
  if (bytes.length !== CONNECTION_CONTEXT) {
    const hint = `a context has ${CONNECTION_CONTEXT} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path, value: bytes.length, hint });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { ...get<ConnectionShared>(view, SHARED), reply: get(view, REPLY), original: get(view, ORIGINAL) };
}

function put<T>(path: string, view: DataView, places: Places<T>, values: Partial<T>): void {
  checkObject(path, values);
  for (const [name, value] of Object.entries(values)) {
    const place = Object.hasOwn(places, name) ? places[name as keyof T] : undefined;
    if (place === undefined) {
      const hint = namesHint(name, "fields", Object.keys(places));
      refuse({ code: "EINVAL", reason: "bad_field", path: `${path}.${name}`, value, hint });
    }
    if (value === undefined) continue;
    const [bit, width] = place;
    const at = (bit >> 5) << 2;
    const shift = WORD - (bit & 31) - width;
    view.setUint32(at, view.getUint32(at) + unsigned(`${path}.${name}`, value, width) * 2 ** shift);
  }
}

function get<T>(view: DataView, places: Places<T>): T {
  const values = Object.entries<readonly [number, number]>(places).map(([name, [bit, width]]) => {
    const word = view.getUint32((bit >> 5) << 2);
    return [name, Math.floor(word / 2 ** (WORD - (bit & 31) - width)) % 2 ** width];
  });
  return Object.fromEntries(values) as T;
}
