/** Frames that a connection does not look at, and those that are odd but good (docs/conntrack.md). */
import { beforeAll, expect, test } from "vitest";
import { ACK, ConnectionWorld, FIN, RST, segmentFrame, SYN, type SegmentFields } from "./support/connections.js";

const VALID = 0;
const BAD = 0x41;
const CHANGED = 2;

/** The handshake. */
const LIFE = [
  [true, SYN, 1000, 0],
  [false, SYN | ACK, 5000, 1001],
  [true, ACK, 1001, 5001],
] as const;

let world: ConnectionWorld;
beforeAll(async () => {
  world = await ConnectionWorld.make();
});

function send(
  original: boolean,
  segment: SegmentFields,
  change: (bytes: Uint8Array) => void = () => undefined,
): number {
  const bytes = segmentFrame(segment);
  change(bytes);
  return world.send([{ bytes, wireLength: bytes.length, linkType: 1, time: 0n, original }])[0]!.syndrome;
}

test("bad frames change nothing", () => {
  world.open();
  for (const [original, flags, seq, ack] of LIFE) send(original, { flags, seq, ack });
  const before = world.context();
  const good = { flags: ACK, seq: 1000 + 1, ack: 5000 + 1, data: 8 };
  const bad: [string, SegmentFields, (bytes: Uint8Array) => void][] = [
    ["no flags", { ...good, flags: 0 }, () => undefined],
    ["SYN and FIN", { ...good, flags: SYN | FIN | ACK }, () => undefined],
    ["SYN and RST", { ...good, flags: SYN | RST }, () => undefined],
    ["FIN and RST", { ...good, flags: FIN | RST | ACK }, () => undefined],
    ["FIN alone", { ...good, flags: FIN }, () => undefined],
    ["a first fragment", good, (bytes) => (bytes[20] = 0x20)],
    ["a later fragment", good, (bytes) => (bytes[21] = 1)],
    ["UDP", good, (bytes) => (bytes[23] = 17)],
    ["a data offset of 4", good, (bytes) => (bytes[46] = 0x40)],
    ["a data offset beyond the packet", good, (bytes) => (bytes[46] = 0x80)],
    ["a total length of 39", good, (bytes) => (bytes[17] = 39)],
    ["a total length beyond the frame", good, (bytes) => (bytes[17]! += 1)],
    ["a payload length beyond the frame", { ...good, ipv6: true }, (bytes) => (bytes[19]! += 1)],
  ];
  for (const [name, segment, change] of bad) expect(send(true, segment, change), name).toBe(BAD);
  expect(world.context()).toEqual(before);

  // Cut in the options of the header, and in the payload, which is not read.
  const whole = segmentFrame({ ...good, options: [1, 3, 3, 1] });
  const cut = (length: number): number =>
    world.send([
      { bytes: whole.subarray(0, length), wireLength: whole.length, linkType: 1, time: 0n, original: true },
    ])[0]!.syndrome;
  expect(cut(57)).toBe(BAD);
  expect(cut(58)).toBe(VALID);
  expect(world.context().original.sent_end).toBe(1000 + 9);
  // Padding is no payload; an atomic fragment is none.
  expect(send(true, { flags: ACK, seq: 1000 + 9, ack: 5000 + 1, ipv6: true, padding: 6 })).toBe(VALID);
  expect(world.context().original.sent_end).toBe(1000 + 9);
});

test("IPv6 fragments are bad, but for atomic ones", () => {
  for (const [offsetAndMore, syndrome] of [
    [0, CHANGED],
    [1, BAD],
    [8, BAD],
  ] as const) {
    world.open();
    const plain = segmentFrame({ flags: SYN, seq: 5, ipv6: true });
    const bytes = new Uint8Array(plain.length + 8);
    bytes.set(plain.subarray(0, 54));
    bytes.set([6, 0, 0, offsetAndMore], 54);
    bytes.set(plain.subarray(54), 62);
    bytes[19] = 28;
    bytes[20] = 44;
    const frame = { bytes, wireLength: bytes.length, linkType: 1, time: 0n, original: true };
    expect(world.send([frame])[0]!.syndrome).toBe(syndrome);
  }
});
