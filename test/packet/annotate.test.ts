/** Annotated captures: every frame has its comment, and everything else is as it was. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeComment } from "../../src/packet/capture/comment.js";
import { CaptureDecoder } from "../../src/packet/capture/read.js";
import { PcapngWriter, PcapWriter } from "../../src/packet/capture/writer.js";
import { concat, decodeAll, describeInterface, enhancedPacket, le, section } from "./support/captureHelpers.js";
import { annotated, textOf } from "./support/annotated.js";
import { blocksOf, commentsOf, type Block } from "./support/blocks.js";
import { oddCapture } from "./support/oddCaptures.js";

const SIZES = [1, 5, 64, 1 << 20];
const PACKETS = [2, 3, 6];
const frameOf = ({ body, type, little }: Block): Uint8Array => {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return type === 3 ? body.subarray(4) : body.subarray(20, 20 + view.getUint32(12, little));
};

describe("a pcapng file", () => {
  it.each(SIZES)("in chunks of %d bytes: every block and option stays", (size) => {
    const before = blocksOf(oddCapture());
    const after = blocksOf(annotated(oddCapture(), size));
    expect(after.map(({ type }) => type)).toEqual(before.map(({ type }) => (type === 3 ? 6 : type)));
    let number = 0;
    for (const [i, old] of before.entries()) {
      const now = after[i] as Block;
      expect(now.little).toBe(old.little);
      if (old.type === 0x0a0d0d0a) {
        // The length of the section is unknown.
        expect(now.body).toEqual(concat(old.body.subarray(0, 8), le(-1n, 8), old.body.subarray(16)));
      } else if (!PACKETS.includes(old.type)) expect(now.body).toEqual(old.body);
      else {
        const mine = textOf(++number);
        expect(commentsOf(now)).toEqual([mine, ...(old.type === 3 ? [] : commentsOf(old))]);
        const head = 20 + Math.ceil(frameOf(old).length / 4) * 4;
        if (old.type === 3) continue;
        expect(now.body.subarray(0, head)).toEqual(old.body.subarray(0, head));
        const added = 4 + Math.ceil(new TextEncoder().encode(mine).length / 4) * 4;
        const options = old.body.subarray(head);
        expect(now.body.subarray(head + added)).toEqual(options.length === 0 ? le(0, 4) : options);
      }
    }
    expect(number).toBe(11);
  });

  it("has the same frames, but for simple ones, which get the time 0 of their interface", () => {
    const { frames } = decodeAll(oddCapture());
    const found = decodeAll(annotated(oddCapture(), 1 << 20));
    const offsets: Record<number, bigint> = { 6: 5_000_000_000n, 7: 5_000_000_000n, 11: 0n };
    expect(found.frames).toEqual(frames.map((frame) => ({ ...frame, time: frame.time ?? offsets[frame.number] })));
    expect(found.end.broken).toBeNull();
  });

  it.each(SIZES)("ends with the last frame that is wanted, in chunks of %d bytes", (size) => {
    for (let last = 1; last <= 11; last++) {
      const { frames, end } = decodeAll(annotated(oddCapture(), size, { first: 1, last }));
      expect({ frames: frames.length, broken: end.broken }).toEqual({ frames: last, broken: null });
      const alone = annotated(oddCapture(), size, { first: last, last });
      expect(decodeAll(alone).frames.map(({ bytes }) => bytes)).toEqual([frames.at(-1)?.bytes]);
      expect(blocksOf(alone).flatMap((one) => (PACKETS.includes(one.type) ? commentsOf(one).slice(0, 1) : []))).toEqual(
        [textOf(last)],
      );
    }
  });

  it.each(SIZES)("that is cut or broken keeps what is before, in chunks of %d bytes", (size) => {
    const file = oddCapture();
    for (let length = 28; length < file.length; length += 7) {
      const cut = file.slice(0, length);
      const before = decodeAll(cut);
      const found = decodeAll(annotated(cut, size));
      expect(found.end.broken).toBeNull();
      expect(found.frames.map(({ bytes }) => bytes)).toEqual(before.frames.map(({ bytes }) => bytes));
    }
    const broken = file.slice();
    // The trailer of the last block.
    broken[broken.length - 1]! ^= 1;
    expect(decodeAll(annotated(broken, size)).frames).toHaveLength(10);
  });

  it("leaves out a block that is longer than any that is read", () => {
    const length = (16 << 20) + 4;
    const head = concat(section(), describeInterface(1, 0), enhancedPacket(0, 3n, Uint8Array.of(1, 2, 3)));
    const tail = enhancedPacket(0, 3n, Uint8Array.of(4, 5, 6));
    const file = new Uint8Array(head.length + length + tail.length);
    file.set(head);
    file.set([...le(0xbad, 4), ...le(length, 4)], head.length);
    file.set(le(length, 4), head.length + length - 4);
    file.set(tail, head.length + length);
    for (const size of [1 << 20, file.length]) {
      const after = annotated(file, size);
      expect(blocksOf(after).map(({ type }) => type)).toEqual([0x0a0d0d0a, 1, 6, 6]);
      expect(decodeAll(after).frames.map(({ bytes }) => bytes[0])).toEqual([1, 4]);
    }
  });
});

describe("a pcap file", () => {
  const bytes = fc.uint8Array({ maxLength: 70 });
  const time = fc.bigInt({ min: 0n, max: 2n ** 32n * 1_000_000_000n - 1n });
  const frames = fc.array(fc.record({ time, bytes, cut: fc.integer({ min: 0, max: 99 }) }), { maxLength: 9 });

  it("becomes a section with the same frames", () => {
    fc.assert(
      fc.property(
        frames,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom(...SIZES),
        (frames, nanoseconds, little, size) => {
          const writer = new PcapWriter({ linkType: 101, nanoseconds, littleEndian: little, snapLength: 4000 });
          const parts = frames.map(({ cut, ...frame }) =>
            writer.frame({ ...frame, wireLength: frame.bytes.length + cut }),
          );
          const file = concat(writer.header(), ...parts);
          const after = annotated(file, size);
          const { frames: before } = decodeAll(file);
          expect(decodeAll(after)).toEqual({
            frames: before,
            end: { format: "pcapng", frames: frames.length, broken: null },
          });
          const decoder = new CaptureDecoder();
          decoder.push(after);
          const [device] = decoder.interfaces;
          const ticksPerSecond = nanoseconds ? 1_000_000_000n : 1_000_000n;
          expect(device).toMatchObject({ linkType: 101, snapLength: 4000, ticksPerSecond });
          const comments = blocksOf(after).flatMap((one) => (one.type === 6 ? commentsOf(one) : []));
          expect(comments).toEqual(frames.map((_, i) => textOf(i + 1)));
        },
      ),
    );
  });

  it("keeps the length of the frame check sequence", () => {
    const file = new PcapWriter({ linkType: 1 }).header();
    // FCS(4) R P 0(10): two words of 16 bits.
    new DataView(file.buffer).setUint32(20, 0x24000001, true);
    const [, device] = blocksOf(annotated(file, 5));
    expect(device?.body).toEqual(concat(le(1, 4), le(262144, 4), le(13, 2), le(1, 2), le(32, 4), le(0, 4)));
  });
});

describe("comments of PcapngWriter", () => {
  it.each([true, false])("little-endian: %s", (littleEndian) => {
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }], littleEndian });
    const frame = { time: null, bytes: Uint8Array.of(1, 2, 3, 4, 5), comments: ["first", "", "third é"] };
    const [packet] = blocksOf(writer.frame(frame), littleEndian);
    expect(commentsOf(packet!)).toEqual(frame.comments);
    expect(decodeAll(concat(writer.header(), writer.frame(frame))).frames).toMatchObject([
      { time: 0n, bytes: frame.bytes },
    ]);
  });

  it("refuses one that does not fit an option", () => {
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }] });
    const comments = ["short", "x".repeat(65536)];
    expect(() => writer.frame({ time: 0n, bytes: new Uint8Array(), comments })).toThrow(
      expect.objectContaining({ code: "EINVAL", reason: "out_of_range", path: "comments[1]" }),
    );
    expect(() => writer.frame({ time: 0n, bytes: new Uint8Array(), comments: ["x".repeat(65535)] })).not.toThrow();
  });
});

it("cuts a comment that is too long between characters", () => {
  for (const shift of ["", "a", "ab", "abc"]) {
    const text = shift + "é€😀".repeat(9000);
    const { little, big } = encodeComment(text);
    const length = little[2]! | (little[3]! << 8);
    const decoded = new TextDecoder("utf-8", { fatal: true }).decode(little.subarray(4, 4 + length));
    expect(decoded.endsWith("...")).toBe(true);
    expect(text.startsWith(decoded.slice(0, -3))).toBe(true);
    expect(length).toBeGreaterThan(65535 - 4);
    expect(length).toBeLessThanOrEqual(65535);
    expect(big.subarray(4)).toEqual(little.subarray(4));
  }
});
