/**
 * The device at the other end of the cable decrypts the frames that one device encrypts; counters
 * of both ends agree.
 */
import { beforeEach, expect, test } from "vitest";
import type { Outcome } from "../../../src/index.js";
import type { VerbsFlow } from "../../../src/model/flow/verbsFlow.js";
import { buildFrame } from "../../../src/packet/index.js";
import type * as v from "../../../src/verbs/index.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  ESP_SPEC,
  handle,
  inline,
  iv,
  keymat,
  numbersOf,
  TRANSPORT,
  tunnel,
  UDP_ENCAP,
} from "../support/esp.js";
import { count, EGRESS, FlowBench, IPV4, valuesOf } from "../support/flows.js";

/** Two devices; the left one sends to the right one through its port 1. */
let left: FlowBench;
let right: FlowBench;

beforeEach(async () => {
  [left, right] = [await FlowBench.open({ name: "left" }), await FlowBench.open({ name: "right" })];
  left.device.connect(1, right.device, 1);
});

/**
 * TCP frames of many lengths with correct IPv4 checksums, because transport mode recomputes them.
 */
const clear = (n: number): Uint8Array =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.1" },
    { header: "tcp", source_port: 40_000, destination_port: 1 + n },
    new Uint8Array(10 + ((37 * n) % 1300)).fill(n),
  ]);
const CLEAR = Array.from({ length: 300 }, (_, n) => clear(n));
const BYTES = BigInt(CLEAR.reduce((sum, { length }) => sum + length, 0));

/** Result on the right device of a frame sent by the left one. */
function across(frame: Uint8Array): Outcome {
  const [port] = left.device.send(left.qp("out"), frame).to;
  if (port?.kind !== "port" || port.outcome === null) throw new Error("nothing has arrived");
  return port.outcome;
}

/** A tunnel between them: a flow at each end, with a counter. */
function ends(
  seals: v.FlowActionEsp,
  opens: v.FlowActionEsp,
  specs: readonly object[] = [],
): { out: () => bigint[]; into: () => bigint[]; flows: [VerbsFlow, VerbsFlow] } {
  const [sent, got] = [left.counters(), right.counters()];
  const flows: [VerbsFlow, VerbsFlow] = [
    left.flow("out", [...specs, handle(create(left, seals)), count(sent)], EGRESS),
    right.flow("in", [...specs, handle(create(right, opens)), count(got)]),
  ];
  return { out: () => valuesOf(sent), into: () => valuesOf(got), flows };
}

/** Around 2^32, so that the upper half of the number changes during the test. */
const WRAP = { comp_mask: ESN, esn: 6 };
const attr = { seq: 2 ** 32 - 100 };
const WINDOW = { replay_proto: BMP, replay_ptr: { size: 64 } };

const full = (mode: number, over: v.FlowActionEsp): [v.FlowActionEsp, v.FlowActionEsp] => [
  tunnel(mode | ENCRYPT, { ...WRAP, ...over, keymat_ptr: keymat({ iv: iv(77n) }) }, attr),
  tunnel(mode, { ...WRAP, ...WINDOW, ...over }, attr),
];

test.each([
  ["tunnel", ...full(0, {}), 20 + 16 + 18],
  ["transport in UDP", ...full(TRANSPORT, { esp_encap: [UDP_ENCAP] }), 8 + 16 + 18],
] as const)("%s: frames come out as they went in, across the end of 2^32", (_mode, seals, opens, more) => {
  const { out, into, flows } = ends(seals, opens);
  let sealedBytes = 0n;
  for (const [n, frame] of CLEAR.entries()) {
    const { verdict, to, rules } = across(frame);
    expect([n, verdict, rules]).toEqual([n, "deliver", [flows[1]]]);
    expect(to[0]?.frame).toEqual(frame);
    // The payload is padded to a multiple of 4 with the two bytes of the trailer.
    const payload = frame.length - (more === 54 ? 14 : 34);
    sealedBytes += BigInt(frame.length + more + ((4 - ((payload + 2) % 4)) % 4));
  }
  expect(out()).toEqual([300n, BYTES]);
  expect(into()).toEqual([300n, sealedBytes]);
});

test("a batch on the wire is opened as frames one by one are, in any order, none twice", () => {
  left.device.disconnect(1);
  const wire: Uint8Array[] = [];
  left.device.connect(1, (frame) => void wire.push(frame));
  const [seals, opens] = full(0, {});
  const { into } = ends(seals, opens);
  for (const frame of CLEAR) left.device.send(left.qp("out"), frame);
  expect(wire.length).toBe(CLEAR.length);
  expect(wire.map((frame) => numbersOf(frame).seq)).toEqual(CLEAR.map((_, n) => (attr.seq + n) % 2 ** 32));
  expect(wire.map((frame) => numbersOf(frame).iv)).toEqual(CLEAR.map((_, n) => BigInt(77 + n)));
  // Each group of four in reverse order, and each frame repeated.
  const order = CLEAR.map((_, n) => n ^ 3);
  const twice = order.flatMap((n) => [n, n]);
  const outcomes = right.device.receiveBatch(
    1,
    twice.map((n) => wire[n] as Uint8Array),
  );
  const made = outcomes.map(({ to, reason }) => to[0]?.frame.slice() ?? reason);
  expect(made).toEqual(order.flatMap((n) => [CLEAR[n], "esp_replay"]));
  expect(right.device.reasons().esp_replay).toBe(BigInt(order.length));
  const received = twice.reduce((sum, n) => sum + (wire[n] as Uint8Array).length, 0);
  expect(into()).toEqual([BigInt(twice.length), BigInt(received)]);
});

test("inline: the sender's numbers make the IV, and the packet comes back with its ESP header", () => {
  const { out, into } = ends(inline(ENCRYPT, WRAP), inline(0, WRAP), [IPV4, ESP_SPEC]);
  const frames = CLEAR.slice(0, 50).map((frame, n) => espOf(frame, n));
  const taken = frames.map((frame) => across(frame).to[0]);
  for (const [n, frame] of frames.entries()) {
    expect(taken[n]?.espFault).toBeUndefined();
    const got = taken[n]?.frame as Uint8Array;
    expect(numbersOf(got)).toEqual({ spi: 0x100, seq: attr.seq + n, iv: (6n << 32n) + BigInt(attr.seq + n) });
    expect(got.slice(50)).toEqual(frame.slice(50));
    expect(got.length).toBe(frame.length);
  }
  const sum = (n: number): bigint => BigInt(frames.reduce((bytes, { length }) => bytes + n + length, 0));
  expect(out()).toEqual([50n, sum(0)]);
  const padding = frames.reduce((bytes, { length }) => bytes + ((4 - ((length - 50 + 2) % 4)) % 4), 0);
  expect(into()).toEqual([50n, sum(18) + BigInt(padding)]);
});

/** The IP packet of a frame as the payload of an ESP packet for inline encryption. */
function espOf(frame: Uint8Array, n: number): Uint8Array {
  const esp = new Uint8Array(50 + frame.length - 14);
  esp.set(frame.subarray(0, 34));
  const view = new DataView(esp.buffer);
  view.setUint16(16, esp.length - 14);
  view.setUint8(23, 50);
  view.setUint32(34, 0x100);
  view.setUint32(38, attr.seq + n);
  esp.set(frame.subarray(14), 50);
  return esp;
}

test("both ways at once, each with an association of its own", () => {
  const [seals, opens] = full(TRANSPORT, { esp_encap: [UDP_ENCAP] });
  ends(...full(0, {}));
  right.flow("back", [handle(create(right, seals))], EGRESS);
  left.flow("answer", [handle(create(left, opens))]);
  for (const frame of CLEAR.slice(0, 50)) {
    expect(across(frame).to).toMatchObject([{ name: "qp:in", frame }]);
    const [port] = right.device.send(right.qp("back"), frame).to;
    expect(port).toMatchObject({ kind: "port", outcome: { to: [{ name: "qp:answer", frame }] } });
  }
});
