/** Checks that the readers read the output of the writers. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CaptureDecoder, type CapturedFrame } from "../../src/packet/capture/read.js";
import { PcapngWriter, PcapWriter } from "../../src/packet/capture/writer.js";
import { SteeringError } from "../../src/errors.js";
import { concat, decodeAll, le, swapByteOrder } from "./support/captureHelpers.js";

const linkType = fc.integer({ min: 0, max: 0xffff });
const bytes = fc.uint8Array({ maxLength: 200 });
const cutAway = fc.option(fc.integer({ min: 0, max: 0xffff }), { nil: undefined });
/** Chunks to read with, a large one for the whole file. */
const size = fc.constantFrom(1, 5, 64, 1 << 20);

const wireLengthOf = (frame: { bytes: Uint8Array; cutAway: number | undefined }): number =>
  frame.bytes.length + (frame.cutAway ?? 0);

/** The argument of a writer; a complete frame omits its length. */
function toWrite(frame: { time: bigint; bytes: Uint8Array; cutAway: number | undefined; interfaceId?: number }) {
  const { time, bytes, cutAway, interfaceId = 0 } = frame;
  return cutAway === undefined
    ? { time, bytes, interfaceId }
    : { time, bytes, interfaceId, wireLength: wireLengthOf(frame) };
}

const rounded = (time: bigint, nanoseconds: boolean): bigint => (nanoseconds ? time : time - (time % 1000n));

describe.each([true, false])("little-endian: %s", (littleEndian) => {
  it("pcap", () => {
    const time = fc.bigInt({ min: 0n, max: 2n ** 32n * 1_000_000_000n - 1n });
    const frames = fc.array(fc.record({ time, bytes, cutAway }), { maxLength: 20 });
    fc.assert(
      fc.property(linkType, fc.boolean(), frames, size, (linkType, nanoseconds, frames, size) => {
        const writer = new PcapWriter({ linkType, nanoseconds, littleEndian });
        const file = concat(writer.header(), ...frames.map((frame) => writer.frame(toWrite(frame))));
        const expected: CapturedFrame[] = frames.map((frame, i) => ({
          number: i + 1,
          time: rounded(frame.time, nanoseconds),
          linkType,
          wireLength: wireLengthOf(frame),
          bytes: frame.bytes,
          interfaceId: 0,
        }));
        expect(decodeAll(file, size)).toEqual({
          frames: expected,
          end: { format: "pcap", frames: frames.length, broken: null },
        });
      }),
    );
  });

  it("frames without a time: pcapng has them so if it can, else the time is 0", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const frames = [
      { time: null, bytes },
      { time: null, bytes, wireLength: 4 },
      { time: null, bytes, interfaceId: 1 },
    ];
    const times = (writer: PcapWriter | PcapngWriter) =>
      decodeAll(concat(writer.header(), ...frames.map((frame) => writer.frame(frame)))).frames.map(
        ({ time, wireLength, interfaceId }) => [time, wireLength, interfaceId],
      );
    const interfaces = [{ linkType: 1 }, { linkType: 1 }];
    expect(times(new PcapngWriter({ interfaces, littleEndian }))).toEqual([
      [null, 3, 0],
      [0n, 4, 0],
      [0n, 3, 1],
    ]);
    expect(times(new PcapWriter({ linkType: 1, littleEndian })).map(([time]) => time)).toEqual([0n, 0n, 0n]);
  });

  it("pcapng", () => {
    const device = fc.record({
      linkType,
      nanoseconds: fc.boolean(),
      name: fc.string({ unit: "binary", maxLength: 12 }),
    });
    const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const frames = fc.array(fc.record({ time, bytes, cutAway, interfaceId: fc.nat() }), { maxLength: 20 });
    const interfaces = fc.array(fc.oneof(device, fc.record({ linkType })), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(interfaces, frames, size, (interfaces, some, size) => {
        const frames = some.map((frame) => ({ ...frame, interfaceId: frame.interfaceId % interfaces.length }));
        const writer = new PcapngWriter({ interfaces, littleEndian });
        const file = concat(writer.header(), ...frames.map((frame) => writer.frame(toWrite(frame))));
        const expected: CapturedFrame[] = frames.map((frame, i) => {
          const device: { linkType: number; nanoseconds?: boolean } = interfaces[frame.interfaceId]!;
          return {
            number: i + 1,
            time: rounded(frame.time, device.nanoseconds ?? false),
            linkType: device.linkType,
            wireLength: wireLengthOf(frame),
            bytes: frame.bytes,
            interfaceId: frame.interfaceId,
          };
        });
        expect(decodeAll(file, size)).toEqual({
          frames: expected,
          end: { format: "pcapng", frames: frames.length, broken: null },
        });

        const decoder = new CaptureDecoder();
        decoder.push(writer.header());
        expect(decoder.interfaces.map((device) => device.name)).toEqual(
          interfaces.map((device) => ("name" in device ? device.name : null)),
        );
      }),
    );
  });

  it("is the other order swapped", () => {
    const frame = { time: 1_700_000_000_123_456_789n, bytes: Uint8Array.of(1, 2, 3), wireLength: 60 };
    const pcap = (littleEndian: boolean): Uint8Array => {
      const writer = new PcapWriter({ linkType: 276, littleEndian });
      return concat(writer.header(), writer.frame(frame));
    };
    const pcapng = (littleEndian: boolean): Uint8Array => {
      const writer = new PcapngWriter({ interfaces: [{ linkType: 1, nanoseconds: true, name: "p0" }], littleEndian });
      return concat(writer.header(), writer.frame(frame));
    };
    for (const file of [pcap, pcapng]) expect(swapByteOrder(file(littleEndian))).toEqual(file(!littleEndian));
  });
});

it("adds interfaces after the header", () => {
  const writer = new PcapngWriter({ interfaces: [{ linkType: 1, name: "a" }] });
  const bytes = Uint8Array.of(1, 2, 3);
  const file = concat(
    writer.header(),
    writer.frame({ time: 1000n, bytes }),
    writer.addInterface({ linkType: 101, nanoseconds: true, name: "b" }),
    writer.frame({ time: 1001n, bytes, interfaceId: 1 }),
  );
  expect(decodeAll(file).frames.map(({ linkType, time }) => ({ linkType, time }))).toEqual([
    { linkType: 1, time: 1000n },
    { linkType: 101, time: 1001n },
  ]);
  expect(writer.header()).toEqual(
    new PcapngWriter({
      interfaces: [
        { linkType: 1, name: "a" },
        { linkType: 101, nanoseconds: true, name: "b" },
      ],
    }).header(),
  );
  expect(() => writer.addInterface({ linkType: 65536 })).toThrow("linkType");
  expect(() => writer.frame({ time: 0n, bytes, interfaceId: 2 })).toThrow("interfaceId");
});

it("writes the bytes of the formats", () => {
  const pcap = new PcapWriter({ linkType: 101, nanoseconds: true, snapLength: 2 });
  expect(pcap.header()).toEqual(concat(le(0xa1b23c4d, 4), le(2, 2), le(4, 2), le(0, 8), le(2, 4), le(101, 4)));
  expect(pcap.frame({ time: 3_000_000_004n, bytes: Uint8Array.of(7, 8, 9) })).toEqual(
    concat(le(3, 4), le(4, 4), le(2, 4), le(3, 4), Uint8Array.of(7, 8)),
  );

  const pcapng = new PcapngWriter({ interfaces: [{ linkType: 1 }] });
  expect(pcapng.header()).toEqual(
    concat(
      ...[le(0x0a0d0d0a, 4), le(28, 4), le(0x1a2b3c4d, 4), le(1, 2), le(0, 2), le(-1n, 8), le(28, 4)],
      ...[le(1, 4), le(20, 4), le(1, 2), le(0, 2), le(0, 4), le(20, 4)],
    ),
  );
  expect(pcapng.frame({ time: 2n ** 32n * 1000n + 5999n, bytes: Uint8Array.of(7), wireLength: 60 })).toEqual(
    concat(le(6, 4), le(36, 4), le(0, 4), le(1, 4), le(5, 4), le(1, 4), le(60, 4), le(7, 4), le(36, 4)),
  );
});

describe("refuses", () => {
  const pcap = new PcapWriter({ linkType: 1, nanoseconds: true });
  const pcapng = new PcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 1, nanoseconds: true }] });
  const none = new Uint8Array();

  it.each<[string, () => unknown]>([
    ["linkType", () => new PcapWriter({ linkType: 65536 })],
    ["linkType", () => new PcapWriter({ linkType: 1.5 })],
    ["snapLength", () => new PcapWriter({ linkType: 1, snapLength: 0 })],
    ["interfaces[1].linkType", () => new PcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: -1 }] })],
    ["interfaces[0].name", () => new PcapngWriter({ interfaces: [{ linkType: 1, name: "x".repeat(65536) }] }).header()],
    ["time", () => pcap.frame({ time: 2n ** 32n * 1_000_000_000n, bytes: none })],
    ["time", () => pcap.frame({ time: -1n, bytes: none })],
    ["time", () => pcapng.frame({ time: -1n, bytes: none })],
    ["time", () => pcapng.frame({ time: 2n ** 64n, bytes: none, interfaceId: 1 })],
    ["interfaceId", () => pcapng.frame({ time: 0n, bytes: none, interfaceId: 2 })],
    ["wireLength", () => pcap.frame({ time: 0n, bytes: Uint8Array.of(1), wireLength: 0 })],
    ["wireLength", () => pcapng.frame({ time: 0n, bytes: none, wireLength: 2 ** 32 })],
    ["bytes.length", () => pcapng.frame({ time: 0n, bytes: new Uint8Array(4 * 262144 + 1) })],
  ])("%s", (path, call) => {
    expect(call).toThrow(SteeringError);
    expect(call).toThrow(expect.objectContaining({ code: "EINVAL", reason: "out_of_range", path }));
  });
});
