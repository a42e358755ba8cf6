/** Both readers on handmade files, for cases that no public capture has. */

import { describe, expect, it } from "vitest";
import { CaptureDecoder, FrameColumns, readCapture } from "../../src/packet/capture/read.js";
import { LINK_TYPES, linkTypeName } from "../../src/packet/capture/linkTypes.js";
import { linkTypeText } from "../../src/packet/capture/linkTypeTexts.js";
import { SteeringError } from "../../src/errors.js";
import {
  block,
  concat,
  decodeAll,
  describeInterface,
  enhancedPacket,
  le,
  option,
  section,
} from "./support/captureHelpers.js";

const BYTES = Uint8Array.of(1, 2, 3, 4, 5);

function pcapHeader(magic = 0xa1b2c3d4, linkType = 1, major = 2, minor = 4): Uint8Array {
  return concat(le(magic, 4), le(major, 2), le(minor, 2), le(0, 8), le(65535, 4), le(linkType, 4));
}

function pcapRecord(bytes: Uint8Array, captured = bytes.length): Uint8Array {
  return concat(le(1, 4), le(2, 4), le(captured, 4), le(60, 4), bytes);
}

function refusalOf(file: Uint8Array, size?: number): SteeringError {
  try {
    decodeAll(file, size);
  } catch (error) {
    if (error instanceof SteeringError) return error;
    throw error;
  }
  throw new Error("not refused");
}

describe("pcap", () => {
  it("reads only 16 bits of the link type", () => {
    const { frames } = decodeAll(concat(pcapHeader(0xa1b2c3d4, 0x24050071), pcapRecord(BYTES)));
    expect(frames).toEqual([
      { number: 1, time: 1_000_002_000n, linkType: 113, wireLength: 60, bytes: BYTES, interfaceId: 0 },
    ]);
  });

  it("takes the fraction as nanoseconds under the other magic", () => {
    expect(decodeAll(concat(pcapHeader(0xa1b23c4d), pcapRecord(BYTES))).frames[0]!.time).toBe(1_000_000_002n);
  });

  it.each([
    [0, [9, 5]],
    [2, [9, 5]],
    [3, [9, 5]],
    [3, [5, 9]],
    [4, [5, 9]],
  ])("reads version 2.%i with the lengths %j", (minor, lengths) => {
    const record = concat(le(1, 4), le(2, 4), ...lengths.map((length) => le(length, 4)), BYTES);
    const { frames, end } = decodeAll(concat(pcapHeader(0xa1b2c3d4, 1, 2, minor), record, record), 7);
    expect(frames.map(({ bytes, wireLength }) => [bytes, wireLength])).toEqual([
      [BYTES, 9],
      [BYTES, 9],
    ]);
    expect(end.broken).toBeNull();
    const bad = concat(le(1, 4), le(2, 4), le(2 ** 31, 4), le(2 ** 31, 4));
    const { broken } = decodeAll(concat(pcapHeader(0xa1b2c3d4, 1, 2, minor), bad)).end;
    expect(broken?.offset).toBe(24 + (minor < 3 ? 12 : 8));
  });

  it("describes its interface", () => {
    const decoder = new CaptureDecoder();
    expect(decoder.interfaces).toEqual([]);
    decoder.push(pcapHeader(0xa1b23c4d, 101));
    expect(decoder.interfaces).toEqual([
      { linkType: 101, snapLength: 65535, name: null, ticksPerSecond: 1_000_000_000n, timeOffset: 0n },
    ]);
  });

  it("ends at a captured length beyond any frame, and takes the longest", () => {
    const most = 4 * 262144;
    const longest = pcapRecord(new Uint8Array(most));
    const good = concat(pcapHeader(), pcapRecord(BYTES));
    const whole = new Uint8Array([...good, ...longest]);
    expect(decodeAll(whole, 4096).frames.map((frame) => frame.bytes.length)).toEqual([5, most]);
    expect(decodeAll(concat(good, pcapRecord(BYTES, most + 1), pcapRecord(BYTES))).end).toEqual({
      format: "pcap",
      frames: 1,
      broken: { offset: good.length + 8, what: "captured length", wanted: most, had: most + 1 },
    });
  });

  it("tells where a record is cut short", () => {
    const good = concat(pcapHeader(), pcapRecord(BYTES));
    const cut = (more: number) => decodeAll(concat(good, pcapRecord(BYTES).subarray(0, more))).end.broken;
    expect(cut(15)).toEqual({ offset: 45, what: "packet record header", wanted: 16, had: 15 });
    expect(cut(20)).toEqual({ offset: 45, what: "packet record", wanted: 21, had: 20 });
  });

  it("reads no more after a break", () => {
    const decoder = new CaptureDecoder();
    decoder.push(pcapHeader());
    decoder.push(concat(pcapRecord(BYTES, 2 ** 31), pcapRecord(BYTES)));
    expect(decoder.push(pcapRecord(BYTES))).toEqual([]);
    expect(decoder.finish().broken).toMatchObject({ offset: 24 + 8, had: 2 ** 31 });
  });
});

describe("pcapng times", () => {
  const timeOf = (ticks: bigint, ...options: Uint8Array[]) =>
    decodeAll(concat(section(), describeInterface(1, 0, ...options), enhancedPacket(0, ticks, BYTES))).frames[0]!.time;
  const resolution = (value: number) => option(9, Uint8Array.of(value));

  it.each([
    ["microseconds unless told", [], 1_000_001n, 1_000_001_000n],
    ["seconds", [resolution(0)], 7n, 7_000_000_000n],
    ["milliseconds", [resolution(3)], 1_001n, 1_001_000_000n],
    ["nanoseconds", [resolution(9)], 2n ** 63n + 1n, 2n ** 63n + 1n],
    ["picoseconds, rounded down", [resolution(12)], 1_999n, 1n],
    ["halves", [resolution(0x81)], 3n, 1_500_000_000n],
    ["2^-32 of a second", [resolution(0xa0)], (5n << 32n) | (1n << 31n), 5_500_000_000n],
    ["2^-127 of a second", [resolution(0xff)], 2n ** 64n - 1n, 0n],
    ["an offset", [option(14, le(1_000_000_000, 8))], 5n, 1_000_000_000_000_005_000n],
    ["an offset before the epoch", [option(14, le(-2n, 8))], 500_000n, -1_500_000_000n],
    ["options after the end of options not read", [option(0, le(0, 0)), resolution(9)], 1n, 1_000n],
  ])("%s", (_, options, ticks, time) => expect(timeOf(ticks, ...options)).toBe(time));
});

describe("pcapng blocks", () => {
  const start = concat(section(), describeInterface(1, 3));
  const packet = enhancedPacket(0, 0n, BYTES);

  it("reads the obsolete packet block", () => {
    const old = block(2, le(1, 2), le(9, 2), le(0, 4), le(6, 4), le(5, 4), le(77, 4), BYTES);
    const { frames, end } = decodeAll(concat(section(), describeInterface(1, 0), describeInterface(113, 0), old));
    const bytes = BYTES;
    expect(frames).toEqual([{ number: 1, time: 6000n, linkType: 113, wireLength: 77, bytes, interfaceId: 1 }]);
    expect(end.broken).toBeNull();
  });

  it("cuts a simple packet block at the snapshot length, and only there", () => {
    const simple = (wireLength: number, bytes: Uint8Array) => block(3, le(wireLength, 4), bytes);
    const lengths = (snapLength: number, ...blocks: Uint8Array[]) =>
      decodeAll(concat(section(), describeInterface(1, snapLength), ...blocks)).frames.map(
        (frame) => [frame.bytes.length, frame.wireLength, frame.time] as const,
      );
    expect(lengths(3, simple(5, BYTES.subarray(0, 3)), simple(2, BYTES.subarray(0, 2)))).toEqual([
      [3, 5, null],
      [2, 2, null],
    ]);
    expect(lengths(0, simple(5, BYTES))).toEqual([[5, 5, null]]);
    expect(lengths(0, simple(9, BYTES))).toEqual([]);
  });

  it("ignores options of packets, and zero captured bytes are a frame", () => {
    const { frames } = decodeAll(concat(start, block(6, new Uint8Array(20), le(0xffffffff, 4)), packet));
    expect(frames.map((frame) => frame.bytes.length)).toEqual([0, 5]);
  });

  it("skips a huge unknown block without keeping it", () => {
    const length = 3 * 2 ** 30;
    const decoder = new CaptureDecoder();
    decoder.push(concat(start, le(0xbad, 4), le(length, 4)));
    // The same buffer each time: if the decoder kept the blocks, it would hold 3 GiB.
    const piece = new Uint8Array(2 ** 24);
    for (let left = length - 12; left > 0; left -= piece.length) decoder.push(piece.subarray(0, left));
    expect(decoder.push(concat(le(length, 4), packet)).map((frame) => frame.bytes)).toEqual([BYTES]);
    expect(decoder.finish()).toEqual({ format: "pcapng", frames: 1, broken: null });
  });

  it("tells of a file that ends in a skipped block", () => {
    const unknown = block(0xbad, new Uint8Array(100));
    const end = (cut: number) => decodeAll(concat(start, unknown.subarray(0, cut)), 7).end.broken;
    const offset = start.length;
    expect(end(50)).toEqual({ offset, what: "block of type 0xbad", wanted: 112, had: 50 });
    expect(end(110)).toEqual({ offset, what: "trailing block length", wanted: 112, had: 110 });
  });

  const withLength = (bytes: Uint8Array, length: number): Uint8Array =>
    concat(bytes.subarray(0, 4), le(length, 4), bytes.subarray(8));
  const withTrailer = (bytes: Uint8Array, length: number): Uint8Array => concat(bytes.subarray(0, -4), le(length, 4));
  const unknown = block(0xbad, new Uint8Array(8));

  it.each([
    ["a length that is no multiple of 4", withLength(packet, 42), "block length", 44, 42, 4],
    ["a length below the least of its type", withLength(packet, 28), "block length", 32, 28, 4],
    ["an unknown block shorter than a block", withLength(unknown, 8), "block length", 12, 8, 4],
    ["a packet block longer than is held", withLength(packet, 2 ** 31), "block length", 2 ** 24, 2 ** 31, 4],
    ["another trailing length", withTrailer(packet, 44), "trailing block length", 40, 44, 36],
    ["another trailing length of an unknown block", withTrailer(unknown, 16), "trailing block length", 20, 16, 16],
    ["a captured length beyond the block", enhancedPacket(0, 0n, BYTES, 9), "captured length", 8, 9, 20],
    ["an interface that nothing describes", enhancedPacket(1, 0n, BYTES), "interface of a packet", 0, 1, 8],
    ["a section in no byte order", block(0x0a0d0d0a, new Uint8Array(16)), "byte-order magic", 0x1a2b3c4d, 0, 8],
    [
      "a section of another version",
      block(0x0a0d0d0a, le(0x1a2b3c4d, 4), le(2, 2), new Uint8Array(10)),
      "major version",
      1,
      2,
      12,
    ],
    ["if_tsresol of two bytes", describeInterface(1, 0, option(9, new Uint8Array(2))), "if_tsresol length", 1, 2, 18],
    ["if_tsoffset of four bytes", describeInterface(1, 0, option(14, le(0, 4))), "if_tsoffset length", 8, 4, 18],
    [
      "an option beyond its block",
      describeInterface(1, 0, concat(le(2, 2), le(5, 2), le(0, 4))),
      "option length",
      4,
      5,
      18,
    ],
  ])("ends at %s, and points at the field", (_, bad, what, wanted, had, at) => {
    const file = concat(start, packet, bad, packet, packet);
    for (const size of [file.length, 1]) {
      const { frames, end } = decodeAll(file, size);
      expect(frames.map((frame) => frame.bytes)).toEqual([BYTES]);
      expect(end).toEqual({
        format: "pcapng",
        frames: 1,
        broken: { offset: start.length + packet.length + at, what, wanted, had },
      });
    }
  });

  it("ends at a captured length beyond any frame, and takes the longest", () => {
    const most = 4 * 262144;
    const ofLength = (length: number) => decodeAll(concat(start, enhancedPacket(0, 0n, new Uint8Array(length))), 65536);
    expect(ofLength(most).frames.map((frame) => frame.bytes.length)).toEqual([most]);
    expect(ofLength(most + 1).end.broken).toMatchObject({ what: "captured length", wanted: most, had: most + 1 });
  });

  it("forgets the interfaces of the section before", () => {
    const { end } = decodeAll(concat(start, packet, section(), packet));
    expect(end.broken).toMatchObject({ what: "interface of a packet", had: 0 });
  });

  it("describes at most 65536 interfaces in a section", () => {
    const decoder = new CaptureDecoder();
    decoder.push(section());
    for (let i = 0; i <= 65536; i++) decoder.push(describeInterface(1, 0));
    expect(decoder.interfaces.length).toBe(65536);
    expect(decoder.finish().broken).toMatchObject({ what: "number of interfaces" });
  });
});

describe("refusals", () => {
  it.each<[string, Uint8Array, string, RegExp, number?]>([
    ["nothing", new Uint8Array(), "not_a_capture", /shorter than any capture/],
    ["three bytes", pcapHeader().subarray(0, 3), "not_a_capture", /shorter than any capture/],
    ["text", new TextEncoder().encode("hello, world"), "not_a_capture", /a capture starts with/],
    ["modified pcap", pcapHeader(0xa1b2cd34), "not_a_capture", /modified pcap/],
    ["gzip", Uint8Array.of(0x1f, 0x8b, 8, 0), "not_a_capture", /unpack/],
    ["half a pcap header", pcapHeader().subarray(0, 23), "bad_capture", /wanted 24, had 23/],
    ["pcap 3", pcapHeader(0xa1b2c3d4, 1, 3), "bad_capture", /major version: wanted 2, had 3/, 4],
    ["pcap 2.5", pcapHeader(0xa1b2c3d4, 1, 2, 5), "bad_capture", /minor version: wanted 4, had 5/, 6],
    ["half a section header", section().subarray(0, 20), "bad_capture", /wanted 28, had 20/],
    ["a section in no byte order", block(0x0a0d0d0a, new Uint8Array(16)), "bad_capture", /byte-order magic/, 8],
    ["a section header of 16 bytes", block(0x0a0d0d0a, le(0x1a2b3c4d, 4)), "bad_capture", /wanted 28, had 16/, 4],
  ])("%s", (_, file, reason, text, at = 0) => {
    for (const size of [Math.max(file.length, 1), 1]) {
      const refusal = refusalOf(file, size);
      expect(refusal).toMatchObject({ code: "EINVAL", call: "readCapture", reason, path: `byte ${at}` });
      expect(refusal.message).toMatch(text);
    }
  });

  it("are final", () => {
    const decoder = new CaptureDecoder();
    const refused = () => decoder.push(Uint8Array.of(1, 2, 3, 4));
    expect(refused).toThrow(SteeringError);
    expect(() => decoder.push(pcapHeader())).toThrow(SteeringError);
    expect(() => decoder.finish()).toThrow(SteeringError);
  });

  it("wrong types are TypeErrors", async () => {
    expect(() => new CaptureDecoder().push([1] as never)).toThrow(TypeError);
    await expect(readCapture([new ArrayBuffer(24)] as never).next()).rejects.toThrow(TypeError);
  });
});

it("readCapture gives a long file in bounded batches", async () => {
  const record = pcapRecord(new Uint8Array(0));
  const file = new Uint8Array(24 + 20_000 * record.length);
  file.set(pcapHeader());
  for (let at = 24; at < file.length; at += record.length) file.set(record, at);
  let frames = 0;
  for await (const batch of readCapture(file)) {
    expect(batch.length).toBeLessThanOrEqual(4096);
    expect(batch[0]!.number).toBe(frames + 1);
    frames += batch.length;
  }
  expect(frames).toBe(20_000);
});

it("keeps one row of columns", () => {
  const rows = new FrameColumns();
  const file = concat(pcapHeader(0xa1b2c3d4, 113), pcapRecord(BYTES), pcapRecord(BYTES.subarray(1)));
  new CaptureDecoder().read(file, 0, rows);
  const [time, bytes] = [rows.time(1), rows.frame(1)];
  rows.keep(1);
  expect([rows.count, rows.time(0), rows.frame(0), rows.linkTypes[0]]).toEqual([1, time, bytes, 113]);
});

it("names link types", () => {
  expect(linkTypeText(113)).toBe("Linux cooked capture v1 (113)");
  expect(linkTypeText(150)).toBe("private use (150)");
  expect(linkTypeText(65000)).toBe("number 65000");
  for (const linkType of Object.values(LINK_TYPES)) expect(linkTypeText(linkType)).toMatch(/^[A-Zr]/);
  expect(linkTypeName(LINK_TYPES.ETHERNET)).toBe("LINKTYPE_ETHERNET");
  expect(linkTypeName(276)).toBe("LINKTYPE_LINUX_SLL2");
  expect(linkTypeName(147)).toBe("LINKTYPE_147");
});
