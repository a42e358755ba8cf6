/** Captures with what writers seldom write, for copies that keep it. */
import { PcapngWriter } from "../../../src/packet/capture/writer.js";
import { block, concat, describeInterface, le, option, section } from "./captureHelpers.js";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const END = le(0, 4);
const COMMENT = 1;

/** Frames of this length have padding. */
const frame = (first: number): Uint8Array => Uint8Array.from({ length: 61 }, (_, i) => (i === 0 ? first : i));

/** An enhanced packet of interface `of`, or with `type` 2 an obsolete packet block, with options. */
function packet(type: 2 | 6, of: Uint8Array, ticks: bigint, bytes: Uint8Array, ...options: Uint8Array[]): Uint8Array {
  const lengths = [le(bytes.length, 4), le(bytes.length + 7, 4)];
  const padding = new Uint8Array(-bytes.length & 3);
  return block(type, of, le(ticks >> 32n, 4), le(ticks & 0xffffffffn, 4), ...lengths, bytes, padding, ...options);
}

/** A section with a length, options, other blocks than packets, and every kind of packet block. */
function littleEndianSection(): Uint8Array {
  const blocks = concat(
    describeInterface(1, 40, option(2, ascii("eth0")), option(9, le(9, 1)), option(14, le(5n, 8)), END),
    // Names of hosts, and a block for local use.
    block(4, le(1, 2), le(12, 2), le(0x0700000a, 4), ascii("server7\0"), END),
    block(0x80000bad, ascii("kept")),
    describeInterface(101, 0, option(9, le(0x8a, 1)), END),
    packet(6, le(0, 4), 1_700_000_000_123_456_789n, frame(1)),
    packet(6, le(0, 4), 5n, frame(2), option(COMMENT, ascii("seen before")), option(2, le(1, 4)), END),
    packet(6, le(1, 4), 7n, frame(0x45), option(COMMENT, ascii("no end of options"))),
    packet(6, le(0, 4), 9n, frame(3), option(COMMENT, ascii("one")), option(COMMENT, ascii("two, é")), END),
    packet(6, le(0, 4), 11n, new Uint8Array(), END),
    block(3, le(100, 4), frame(4).subarray(0, 40)),
    block(3, le(33, 4), frame(5).subarray(0, 33)),
    packet(2, concat(le(0, 2), le(3, 2)), 13n, frame(6), option(COMMENT, ascii("obsolete")), END),
    block(5, le(0, 4), le(0, 8), option(4, le(9n, 8)), END),
  );
  const head = section();
  head.set(le(BigInt(blocks.length), 8), 16);
  return concat(head, blocks);
}

/** A section of the other byte order. */
function bigEndianSection(): Uint8Array {
  const writer = new PcapngWriter({
    interfaces: [{ linkType: 1, name: "far", nanoseconds: true }],
    littleEndian: false,
  });
  const time = 1_700_000_001_000_000_001n;
  return concat(
    writer.header(),
    writer.frame({ time, bytes: frame(7), comments: ["big-endian", "twice"] }),
    writer.frame({ time: time + 1n, bytes: frame(8), wireLength: 90 }),
    writer.frame({ time: null, bytes: frame(9) }),
  );
}

/** A pcapng file of two sections. */
export function oddCapture(): Uint8Array {
  return concat(littleEndianSection(), bigEndianSection());
}
