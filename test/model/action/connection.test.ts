/** Contexts of connections as bytes: offsets of the device's format, encoded and decoded. */
import { expect, test } from "vitest";
import { connectionBytes, connectionFromBytes } from "../../../src/model/action/connection.js";
import { Random } from "../../oracle/generate/random.js";

const bytesOf = (fields: Parameters<typeof connectionBytes>[1]): Uint8Array => connectionBytes("context", fields);

test("each field has its place", () => {
  const at = (fields: Parameters<typeof connectionBytes>[1]): Record<string, number> => {
    const bytes = [...bytesOf(fields).entries()];
    return Object.fromEntries(bytes.filter(([, byte]) => byte !== 0));
  };
  expect(at({ reply: { max_ack: 1, max_win: 2, reply_end: 3, sent_end: 0x04050607 } })).toEqual({
    3: 1,
    7: 2,
    11: 3,
    12: 4,
    13: 5,
    14: 6,
    15: 7,
  });
  expect(at({ original: { max_ack: 1, max_win: 2, reply_end: 3, sent_end: 4 } })).toEqual({
    19: 1,
    23: 2,
    27: 3,
    31: 4,
  });
  expect(at({ last_end: 1, last_ack: 2, last_seq: 3, last_win: 0x0405 })).toEqual({
    35: 1,
    39: 2,
    43: 3,
    44: 4,
    45: 5,
  });
  expect(at({ last_dir: 1 })).toEqual({ 47: 0x20 });
  expect(at({ last_index: 16 })).toEqual({ 47: 0x10 });
  expect(at({ reply: { scale: 15 }, original: { scale: 1 } })).toEqual({ 56: 0xf0, 58: 0x10 });
  expect(at({ reply: { close_initiated: 1, data_unacked: 1 } })).toEqual({ 56: 0x0a });
  expect(at({ original: { liberal: 1, max_ack_seen: 1 } })).toEqual({ 58: 0x05 });
  expect(at({ valid: 1, state: 5 })).toEqual({ 60: 0xd0 });
  expect(at({ freeze_track: 1 })).toEqual({ 60: 0x08 });
  expect(at({ connection_assured: 1, challenged_acked: 1, max_ack_window: 7 })).toEqual({ 62: 0x57 });
  expect(at({ sack_permitted: 1, heartbeat: 1 })).toEqual({ 62: 0x28 });
  expect(at({ retransmission_counter: 7, retransmission_limit: 3 })).toEqual({ 63: 0x73 });
  expect(at({ limit_exceeded: 1 })).toEqual({ 63: 0x08 });
});

test("bytes become a connection and the same bytes again", () => {
  const random = new Random(7);
  // Reserved bits.
  const mask = new Uint8Array(64).fill(255);
  mask.set([0, 0x3f], 46);
  mask.fill(0, 48, 56);
  mask.set([255, 0, 255, 0, 0xf8, 0, 0x7f, 0x7f], 56);
  for (let n = 0; n < 200; n++) {
    const bytes = Uint8Array.from(random.bytes(64));
    const connection = connectionFromBytes("bytes", bytes);
    expect(bytesOf(connection)).toEqual(bytes.map((byte, i) => byte & mask[i]!));
  }
});

test("what bits do not hold is refused", () => {
  expect(() => bytesOf({ state: 8 })).toThrow(/context\.state/);
  expect(() => bytesOf({ reply: { max_win: 2 ** 32 } })).toThrow(/context\.reply\.max_win/);
  expect(() => bytesOf({ original: { scale: -1 } })).toThrow(/context\.original\.scale/);
  expect(() => bytesOf({ valid: true as unknown as number })).toThrow(TypeError);
  expect(() => bytesOf({ window: 1 } as object)).toThrow(/context\.window = 1: no field has this name/);
  expect(() => bytesOf(null as unknown as object)).toThrow(TypeError);
  expect(() => connectionFromBytes("bytes", new Uint8Array(63))).toThrow(/64 bytes/);
  expect(() => connectionFromBytes("bytes", new Uint8Array(65))).toThrow(/64 bytes/);
  expect(() => connectionFromBytes("bytes", "x" as unknown as Uint8Array)).toThrow(TypeError);
});
