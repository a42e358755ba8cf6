/** Lives of connections, each frame with the syndrome that docs/conntrack.md gives it; the reference has a say too. */
import { beforeAll, expect, test } from "vitest";
import { emptyConnection, stateOf, type PlainConnection } from "../../oracle/act/connection.js";
import {
  ACK,
  ConnectionWorld,
  FIN,
  PSH,
  RST,
  SECOND,
  segmentFrame,
  SYN,
  type SegmentFields,
} from "./support/connections.js";

const VALID = 0;
const CHANGED = 2;
const INVALID = 0x40;
const TRAP = 0x80;

const SCALE = (shift: number): number[] => [1, 3, 3, shift];
const SACK_PERMITTED = [1, 1, 4, 2];
const sack = (...edges: number[]): number[] => [
  1,
  1,
  5,
  2 + 4 * edges.length,
  ...edges.flatMap((edge) => [(edge >>> 24) & 255, (edge >>> 16) & 255, (edge >>> 8) & 255, edge & 255]),
];

let world: ConnectionWorld;
let now = 0n;
beforeAll(async () => {
  world = await ConnectionWorld.make();
});

function open(context: Partial<PlainConnection> = {}): void {
  now = 5n;
  world.open({ ...emptyConnection(), ...context });
}

/** Sends one segment; its syndrome. */
function send(original: boolean, segment: SegmentFields): number {
  const bytes = segmentFrame(segment);
  const frame = { bytes, wireLength: bytes.length, linkType: 1, time: now, original };
  return world.send([frame])[0]!.syndrome;
}

/** Of the initiator, and of the responder; sequence numbers are from where each begins. */
let isn = { a: 1000, b: 5000 };
function a(flags: number, seq: number, ack = 0, more: Partial<SegmentFields> = {}): number {
  return send(true, { flags, seq: isn.a + seq, ack: flags & ACK ? isn.b + ack : 0, ...more });
}
function b(flags: number, seq: number, ack = 0, more: Partial<SegmentFields> = {}): number {
  return send(false, { flags, seq: isn.b + seq, ack: flags & ACK ? isn.a + ack : 0, ...more });
}
const state = (): string => stateOf(world.context());

function establish(options: { a?: number[]; b?: number[] } = {}): void {
  expect(a(SYN, 0, 0, { options: options.a ?? [] })).toBe(CHANGED);
  expect(b(SYN | ACK, 0, 1, { options: options.b ?? [] })).toBe(CHANGED);
  expect(a(ACK, 1, 1)).toBe(CHANGED);
  expect(state()).toBe("established");
}

test.each([
  ["low numbers", 1000, 5000],
  ["numbers that wrap", 2 ** 32 - 1, 2 ** 32 - 250],
  ["numbers that change their sign", 2 ** 31 - 60, 2 ** 31 - 1],
])("a connection lives and closes: %s", (_, from, to) => {
  isn = { a: from, b: to };
  open();
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(state()).toBe("half_open");
  expect(b(SYN | ACK, 0, 1)).toBe(CHANGED);
  expect(state()).toBe("syn_received");
  expect(world.context().original.data_unacked).toBe(0);
  expect(a(ACK, 1, 1)).toBe(CHANGED);
  expect(a(PSH | ACK, 1, 1, { data: 100 })).toBe(VALID);
  expect(world.context()).toMatchObject({ valid: 1, state: 1, connection_assured: 1, heartbeat: 1 });
  expect(world.context().original).toMatchObject({ sent_end: (from + 101) % 2 ** 32, data_unacked: 1 });
  expect(b(ACK, 1, 101)).toBe(VALID);
  expect(b(PSH | ACK, 1, 101, { data: 500 })).toBe(VALID);
  expect(a(ACK, 101, 501)).toBe(VALID);
  expect(a(FIN | ACK, 101, 501)).toBe(CHANGED);
  expect(state()).toBe("fin_wait");
  // The other side may go on.
  expect(b(ACK, 501, 102, { data: 10 })).toBe(CHANGED);
  expect(state()).toBe("close_wait");
  expect(a(ACK, 102, 511)).toBe(VALID);
  expect(b(FIN | ACK, 511, 102)).toBe(CHANGED);
  expect(state()).toBe("last_ack");
  expect(a(ACK, 102, 512)).toBe(CHANGED);
  expect(state()).toBe("time_wait");
  // The last acknowledgement was lost; then a new connection, of higher numbers only.
  expect(b(FIN | ACK, 511, 102)).toBe(VALID);
  expect(a(SYN, 50)).toBe(VALID);
  expect(state()).toBe("time_wait");
  expect(a(SYN, 5000)).toBe(CHANGED);
  expect(state()).toBe("half_open");
  isn = { a: 1000, b: 5000 };
});

test("both sides close at once", () => {
  open();
  establish();
  expect(a(FIN | ACK, 1, 1)).toBe(CHANGED);
  expect(b(FIN | ACK, 1, 1)).toBe(CHANGED);
  expect(state()).toBe("last_ack");
  expect(a(ACK, 2, 2)).toBe(VALID);
  expect(b(ACK, 2, 2)).toBe(CHANGED);
  expect(state()).toBe("time_wait");
  // Who has sent a FIN has no more data.
  expect(a(ACK, 2, 2, { data: 1 })).toBe(INVALID);
});

test("both sides open at once", () => {
  open();
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(b(SYN, 0)).toBe(VALID);
  expect(a(ACK, 1, 1)).toBe(INVALID);
  expect(a(SYN | ACK, 0, 1)).toBe(CHANGED);
  expect(state()).toBe("syn_received");
  expect(b(SYN | ACK, 0, 1)).toBe(CHANGED);
  expect(state()).toBe("established");
});

test("the responder opens, by the directions of the rules", () => {
  open();
  expect(b(SYN, 0)).toBe(CHANGED);
  expect(b(SYN | ACK, 0, 1)).toBe(INVALID);
  expect(a(SYN | ACK, 0, 1)).toBe(CHANGED);
  expect(b(ACK, 1, 1)).toBe(CHANGED);
  expect(world.context()).toMatchObject({ last_dir: 0, last_index: 8 });
});

test("what does not begin with a SYN is invalid", () => {
  open();
  for (const flags of [ACK, SYN | ACK, FIN | ACK, RST, RST | ACK]) expect(a(flags, 0, 0)).toBe(INVALID);
  expect(world.context()).toEqual(emptyConnection());
  expect(a(SYN, 0)).toBe(CHANGED);
  for (const ack of [0, 2, 60_000]) expect(b(SYN | ACK, 0, ack)).toBe(INVALID);
  expect(b(ACK, 0, 1)).toBe(INVALID);
  expect(b(FIN | ACK, 0, 1)).toBe(INVALID);
});

test("a SYN comes again, the same and another", () => {
  open();
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(a(SYN, 0)).toBe(VALID);
  expect(world.context().retransmission_counter).toBe(1);
  const opened = world.context();
  expect(a(SYN, 7000)).toBe(VALID);
  expect(world.context()).toMatchObject({ retransmission_counter: 0, original: opened.original, reply: opened.reply });
  for (const ack of [0, 2, 7000, 7002]) expect(b(SYN | ACK, 0, ack)).toBe(INVALID);
  // The other side has taken the second one.
  expect(b(SYN | ACK, 0, 7001)).toBe(CHANGED);
  expect(world.context().original.sent_end).toBe(isn.a + 7001);
  expect(a(SYN, 7000)).toBe(VALID);
  expect(b(SYN | ACK, 0, 7001)).toBe(VALID);
  expect(a(ACK, 7001, 1)).toBe(CHANGED);
  expect(b(SYN | ACK, 0, 7001)).toBe(VALID);
  expect(b(SYN | ACK, 1, 7001)).toBe(INVALID);
});

/** Sequence numbers of a forged SYN, from where the genuine one begins: near, older, newer, half of all numbers away. */
const FORGED = [1, -1, 60_000, -60_000, 70_000, 2 ** 31, -(2 ** 31) + 1, 123_456_789];

test.each(FORGED)("a forged second SYN at %d stops no handshake", (seq) => {
  isn = { a: 2 ** 31 + 1000, b: 5000 };
  for (const again of [false, true]) {
    open();
    expect(a(SYN, 0, 0, { options: [...SCALE(7), ...SACK_PERMITTED] })).toBe(CHANGED);
    expect(a(SYN, seq, 0, { win: 1, options: SCALE(1) })).toBe(VALID);
    if (again) expect(a(SYN, 0, 0, { options: [...SCALE(7), ...SACK_PERMITTED] })).toBe(VALID);
    expect(b(SYN | ACK, 0, 1, { options: [...SCALE(3), ...SACK_PERMITTED] })).toBe(CHANGED);
    // And one behind the SYN-ACK, and one when all is done.
    expect(a(SYN, seq)).toBe(VALID);
    expect(a(ACK, 1, 1)).toBe(CHANGED);
    expect(state()).toBe("established");
    expect(world.context()).toMatchObject({ original: { scale: 7 }, reply: { scale: 3 }, sack_permitted: 1 });
    const before = world.context();
    expect(a(SYN, seq)).toBe(VALID);
    expect(world.context()).toMatchObject({ original: before.original, reply: before.reply, state: 1, valid: 1 });
    expect(a(PSH | ACK, 1, 1, { data: 100 })).toBe(VALID);
    expect(b(ACK, 1, 101)).toBe(VALID);
  }
  isn = { a: 1000, b: 5000 };
});

test("a forged second SYN does not stop a handshake whose SYN has data", () => {
  for (const taken of [1, 41]) {
    open();
    expect(a(SYN, 0, 0, { data: 40 })).toBe(CHANGED);
    expect(a(SYN, 70_000)).toBe(VALID);
    expect(b(SYN | ACK, 0, 42)).toBe(INVALID);
    expect(b(SYN | ACK, 0, taken)).toBe(CHANGED);
    expect(a(ACK, 41, 1)).toBe(CHANGED);
  }
});

test("a second SYN whose sender has begun anew opens with its own numbers, window and options", () => {
  open();
  expect(a(SYN, 0, 0, { options: SACK_PERMITTED })).toBe(CHANGED);
  expect(a(SYN, -500_000, 0, { win: 300, options: SCALE(5) })).toBe(VALID);
  expect(b(SYN | ACK, 0, -499_999, { options: [...SCALE(2), ...SACK_PERMITTED] })).toBe(CHANGED);
  expect(world.context()).toMatchObject({
    sack_permitted: 0,
    original: { sent_end: isn.a + 2 ** 32 - 499_999, max_win: 300, scale: 5, data_unacked: 0 },
    reply: { sent_end: isn.b + 1, scale: 2, max_ack_seen: 1 },
  });
  expect(a(ACK, -499_999, 1, { win: 10 })).toBe(CHANGED);
  expect(world.context().original.max_win).toBe(320);
  // Of several the last one counts, and the other side may refuse it.
  open();
  for (const [seq, syndrome] of [
    [0, CHANGED],
    [100, VALID],
    [200, VALID],
  ] as const)
    // prettier-ignore
    expect(a(SYN, seq)).toBe(syndrome);
  for (const ack of [101, 2]) expect(b(RST | ACK, 0, ack)).toBe(INVALID);
  expect(b(RST | ACK, 0, 201)).toBe(CHANGED);
  expect(state()).toBe("empty");
});

test("a forged SYN-ACK, and a forged SYN of the other side, stop no handshake", () => {
  open();
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(b(SYN | ACK, 900_000, 2)).toBe(INVALID);
  expect(b(SYN, 700_000)).toBe(VALID);
  expect(b(SYN | ACK, 900_000, 2)).toBe(INVALID);
  expect(b(SYN | ACK, 0, 1)).toBe(CHANGED);
  // Behind the genuine one, too.
  expect(b(SYN | ACK, 900_000, 1)).toBe(INVALID);
  expect(b(SYN, 700_000)).toBe(VALID);
  expect(a(ACK, 1, 1)).toBe(CHANGED);
  const before = world.context();
  expect(b(SYN | ACK, 900_000, 1)).toBe(INVALID);
  expect(world.context()).toEqual(before);
  expect(a(ACK, 1, 1)).toBe(VALID);
});

test("a host that has lost its connection uses the ports again", () => {
  for (const [name, close] of [
    ["established", []],
    ["fin_wait", [() => b(FIN | ACK, 1, 101)]],
    ["close_wait", [() => b(FIN | ACK, 1, 101), () => a(ACK, 101, 2)]],
  ] as const) {
    // The other side still has it: it challenges, and the answer is a reset (RFC 5961 section 4).
    open();
    establish();
    expect(a(PSH | ACK, 1, 1, { data: 100 })).toBe(VALID);
    expect(b(ACK, 1, 101)).toBe(VALID);
    for (const step of close) step();
    expect(state()).toBe(name);
    expect(a(SYN, 3_000_000)).toBe(VALID);
    expect(state()).toBe(name);
    expect(b(ACK, close.length === 0 ? 1 : 2, 101)).toBe(VALID);
    expect(world.context().challenged_acked).toBe(1);
    expect(a(RST, 101)).toBe(CHANGED);
    expect(state()).toBe("empty");
    expect(a(SYN, 3_000_000)).toBe(CHANGED);
    expect(b(SYN | ACK, 800_000, 3_000_001)).toBe(CHANGED);
    expect(a(ACK, 3_000_001, 800_001)).toBe(CHANGED);

    // The other side has lost it too: it answers at once.
    open();
    establish({ a: [...SCALE(7), ...SACK_PERMITTED], b: [...SCALE(7), ...SACK_PERMITTED] });
    for (const step of close) step();
    expect(a(SYN, -3_000_000, 0, { options: SCALE(2) })).toBe(VALID);
    expect(b(SYN | ACK, 800_000, -3_000_000)).toBe(INVALID);
    expect(b(SYN | ACK, 800_000, -2_999_999, { options: SCALE(4) })).toBe(CHANGED);
    expect(state()).toBe("syn_received");
    expect(world.context()).toMatchObject({ sack_permitted: 0, original: { scale: 2 }, reply: { scale: 4 } });
    expect(a(ACK, -2_999_999, 800_001)).toBe(CHANGED);
    expect(state()).toBe("established");
  }
});

test("only the frame right after a SYN answers it", () => {
  open();
  establish();
  expect(a(SYN, 3_000_000)).toBe(VALID);
  expect(b(ACK, 1, 1)).toBe(VALID);
  expect(b(SYN | ACK, 800_000, 3_000_001)).toBe(INVALID);
  // A side does not answer itself, and software that writes a context says nothing of options.
  expect(b(SYN, 3_000_000)).toBe(VALID);
  expect(b(SYN | ACK, 800_000, 5001 + 2_000_000 - isn.a)).toBe(INVALID);
  const written = { ...world.context(), last_index: 1, last_dir: 1, last_seq: 77, last_end: 78 };
  open(written);
  expect(b(SYN | ACK, 800_000, 78 - isn.a)).toBe(INVALID);
});

test("software writes a half-open connection: its last frame is the first SYN", () => {
  const original = { ...emptyConnection().original, sent_end: isn.a + 1, reply_end: isn.a + 1, max_win: 500, scale: 6 };
  const written = { ...emptyConnection(), last_index: 1, last_dir: 1, last_seq: isn.a, last_end: isn.a + 1, original };
  for (const second of [false, true]) {
    open(structuredClone(written));
    if (second) expect(a(SYN, 70_000)).toBe(VALID);
    expect(b(SYN | ACK, 0, 0)).toBe(INVALID);
    expect(b(SYN | ACK, 0, 1, { options: SCALE(3) })).toBe(CHANGED);
    expect(world.context()).toMatchObject({ original: { scale: 6, max_win: 500 }, reply: { scale: 3 } });
  }
});

test("resets end a connection where they stand right", () => {
  open();
  establish();
  expect(a(PSH | ACK, 1, 1, { data: 100 })).toBe(VALID);
  // Where the other side is, or all that was sent.
  expect(a(RST, 0)).toBe(INVALID);
  expect(a(RST, 65536)).toBe(VALID);
  expect(a(RST, 65537)).toBe(INVALID);
  expect(world.context()).toMatchObject({ valid: 1, last_index: 16, challenged_acked: 0 });
  expect(b(ACK, 1, 1)).toBe(VALID);
  expect(world.context().challenged_acked).toBe(1);
  expect(a(RST, 1)).toBe(CHANGED);
  expect(state()).toBe("empty");
  expect(a(ACK, 101, 1)).toBe(INVALID);
  expect(a(SYN, 500_000)).toBe(CHANGED);
  expect(world.context().challenged_acked).toBe(0);

  // A SYN is answered by a reset, whose number is its acknowledgement.
  expect(b(RST | ACK, 77, 500_000)).toBe(INVALID);
  expect(b(RST, 77)).toBe(INVALID);
  expect(b(RST | ACK, 77, 500_001)).toBe(CHANGED);
  open();
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(a(RST, 0)).toBe(INVALID);
  expect(a(RST, 1)).toBe(CHANGED);
  open();
  establish();
  expect(a(PSH | ACK, 1, 1, { data: 100 })).toBe(VALID);
  expect(a(RST, 101)).toBe(CHANGED);
});

test("what is out of the window is invalid, and changes nothing", () => {
  open();
  establish();
  expect(a(ACK, 1, 1, { data: 1000 })).toBe(VALID);
  const before = world.context();
  // The window of the other side begins at 1 and has 65535 bytes.
  expect(a(ACK, 65537, 1)).toBe(INVALID);
  expect(a(ACK, 2 ** 31, 1)).toBe(INVALID);
  // Acknowledges what was never sent, or what is long done.
  expect(a(ACK, 1001, 2)).toBe(INVALID);
  expect(a(ACK, 1001, 1 - 65536)).toBe(INVALID);
  // Is older than a window.
  expect(a(ACK, 1000 - 65535, 1)).toBe(INVALID);
  expect(world.context()).toEqual(before);
  expect(a(ACK, 1001 - 65535, 1)).toBe(VALID);
  expect(a(ACK, 65536, 1)).toBe(VALID);
  expect(a(ACK, 1001, 1 - 65535)).toBe(VALID);
  // A window of 0 is probed with one byte.
  expect(b(ACK, 1, 65536, { win: 0 })).toBe(VALID);
  expect(a(ACK, 65537, 1, { data: 1 })).toBe(VALID);
  expect(a(ACK, 65538, 1, { data: 1 })).toBe(INVALID);
});

test("what is over the window widens it for what comes again", () => {
  open();
  establish();
  expect(a(ACK, 60_000, 1, { data: 20_000 })).toBe(VALID);
  expect(world.context().reply.max_win).toBe(65535 + 80_000 - 65536);
});

test("an old acknowledgement may be older where the context says so", () => {
  open({ max_ack_window: 2 });
  establish();
  expect(a(ACK, 1, 1 - 4 * 65535)).toBe(VALID);
  expect(a(ACK, 1, -4 * 65535)).toBe(INVALID);
});

test("windows are scaled where both sides have said so", () => {
  open();
  establish({ a: SCALE(4), b: SCALE(20) });
  expect(world.context().original.scale).toBe(4);
  expect(world.context().reply.scale).toBe(14);
  expect(a(ACK, 1, 1, { win: 1000 })).toBe(VALID);
  expect(b(ACK, 1, 1, { win: 10 })).toBe(VALID);
  expect(world.context().original.reply_end).toBe(isn.a + 1 + 10 * 2 ** 14);
  expect(world.context().reply.max_win).toBe(10 * 2 ** 14);
  // The window of a SYN is not scaled, nor those that follow where only one has asked.
  open();
  establish({ a: SCALE(4) });
  expect(world.context().reply.scale).toBe(15);
  expect(a(ACK, 1, 1, { win: 65535 })).toBe(VALID);
  expect(world.context().original.max_win).toBe(65535);
});

test("selective acknowledgements reach further than the acknowledgement", () => {
  for (const permitted of [true, false]) {
    open();
    establish({ a: SACK_PERMITTED, b: permitted ? SACK_PERMITTED : [] });
    expect(world.context().sack_permitted).toBe(permitted ? 1 : 0);
    for (let seq = 1; seq < 120_000; seq += 40_000) {
      expect(b(ACK, seq, 1, { data: 40_000 })).toBe(VALID);
      if (seq < 80_000) expect(a(ACK, 1, seq + 40_000)).toBe(VALID);
    }
    // 120000 bytes were sent. One that is too old alone is not where a block is near, and a block may not be ahead.
    const [near, ahead] = [sack(isn.b + 80_001, isn.b + 90_001), sack(isn.b + 80_001, isn.b + 120_002)];
    expect(a(ACK, 1, 1, { options: near })).toBe(permitted ? VALID : INVALID);
    expect(a(ACK, 1, 80_001, { options: ahead })).toBe(permitted ? INVALID : VALID);
    // All blocks of all options have a say.
    const second = [...sack(isn.b + 1, isn.b + 101), ...near];
    expect(a(ACK, 1, 1, { options: second })).toBe(permitted ? VALID : INVALID);
    // A block behind the acknowledgement says nothing.
    expect(a(ACK, 1, 80_001, { options: sack(isn.b + 1, isn.b + 101) })).toBe(VALID);
  }
});

test("repeated frames are counted, and too many shorten the time", () => {
  open({ retransmission_limit: 2 });
  establish();
  const again = (): number => a(PSH | ACK, 1, 1, { data: 10 });
  for (let n = 0; n < 4; n++) {
    expect(again()).toBe(VALID);
    expect(world.context()).toMatchObject({ retransmission_counter: n, limit_exceeded: n > 2 ? 1 : 0 });
  }
  for (let n = 0; n < 6; n++) expect(again()).toBe(VALID);
  expect(world.context().retransmission_counter).toBe(7);
  now += 300n * SECOND;
  expect(again()).toBe(VALID);
  now += 300n * SECOND + 1n;
  expect(again()).toBe(INVALID);
  expect(a(SYN, 0)).toBe(CHANGED);
  expect(world.context()).toMatchObject({ retransmission_counter: 0, limit_exceeded: 0, retransmission_limit: 2 });

  open({ retransmission_limit: 2 });
  establish();
  for (let n = 0; n < 4; n++) again();
  expect(b(ACK, 1, 11)).toBe(VALID);
  expect(world.context()).toMatchObject({ retransmission_counter: 0, limit_exceeded: 0 });
  now += 1_000_000n * SECOND;
  expect(again()).toBe(VALID);
});

test.each([
  ["half_open", 120n],
  ["syn_received", 60n],
  ["fin_wait", 120n],
  ["close_wait", 60n],
  ["last_ack", 30n],
  ["time_wait", 120n],
])("time runs out: %s", (name, seconds) => {
  const steps = [
    () => a(SYN, 0),
    () => b(SYN | ACK, 0, 1),
    () => a(ACK, 1, 1),
    () => a(FIN | ACK, 1, 1),
    () => b(ACK, 1, 2),
    () => b(FIN | ACK, 1, 2),
    () => a(ACK, 2, 2),
  ];
  for (const late of [0n, 1n]) {
    open();
    for (const step of steps) {
      expect(step()).toBe(CHANGED);
      if (state() === name) break;
    }
    now += seconds * SECOND + late;
    // The last frame again; a SYN that begins a connection, but for one that is half-open.
    const last =
      name === "half_open"
        ? () => b(SYN | ACK, 0, 1)
        : () => a(ACK, ["syn_received", "fin_wait"].includes(name) ? 1 : 2, 1);
    if (late === 0n) expect(last()).not.toBe(INVALID);
    else {
      expect(last()).toBe(INVALID);
      expect(state()).toBe(name);
      expect(a(SYN, 0)).toBe(CHANGED);
    }
  }
});

test("a clock that goes back is no time, and does not make a connection younger", () => {
  open();
  now = 1000n * SECOND;
  expect(a(SYN, 0)).toBe(CHANGED);
  now = 1n;
  expect(b(SYN | ACK, 0, 1)).toBe(CHANGED);
  now = 1060n * SECOND;
  expect(a(ACK, 1, 1)).toBe(CHANGED);
});

test("liberal sides are not checked, but for state", () => {
  const context = emptyConnection();
  context.original.liberal = 1;
  open(context);
  establish();
  expect(world.context().original.liberal).toBe(1);
  expect(b(ACK, 10_000_000, 1)).toBe(INVALID);
  expect(a(ACK, 10_000_000, 2 ** 31)).toBe(VALID);
  expect(a(SYN, 0)).toBe(VALID);
  expect(state()).toBe("established");
  expect(a(RST, 999)).toBe(CHANGED);
});

test("a frozen connection traps everything", () => {
  open({ freeze_track: 1 });
  expect(a(SYN, 0)).toBe(TRAP);
  expect(a(SYN | FIN, 0)).toBe(TRAP);
  expect(world.context()).toEqual({ ...emptyConnection(), freeze_track: 1 });
});

test("software fills in a connection, whose time begins with its first frame", () => {
  const side = { ...emptyConnection().original, max_ack_seen: 1 };
  now = 0n;
  world.open({
    ...emptyConnection(),
    valid: 1,
    state: 4,
    original: { ...side, sent_end: 200, reply_end: 5000, max_win: 4000, max_ack: 700, close_initiated: 1 },
    reply: { ...side, sent_end: 701, reply_end: 9000, max_win: 5000, max_ack: 200, close_initiated: 1 },
  });
  now = 10n ** 18n;
  const segment = { flags: ACK, seq: 200, ack: 700 };
  expect(send(true, segment)).toBe(VALID);
  now += 31n * SECOND;
  expect(send(true, { ...segment, ack: 701 })).toBe(INVALID);
});

test("states that there are not have no frames", () => {
  open({ valid: 1, state: 6 });
  for (const flags of [SYN, SYN | ACK, ACK, FIN | ACK, RST]) expect(a(flags, 0, 0)).toBe(INVALID);
});

test("the last nanosecond that there is is later than all others", () => {
  open();
  for (const at of [2n ** 64n - 2n, 2n ** 64n - 1n]) {
    now = at;
    expect([VALID, CHANGED]).toContain(a(SYN, 0));
  }
  // Time goes back, and on: no frame is late behind it.
  for (const at of [0n, 121n * SECOND, 2n ** 64n - 1n]) {
    now = at;
    expect(a(SYN, 0)).toBe(VALID);
    expect(state()).toBe("half_open");
  }
});
