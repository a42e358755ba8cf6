/** Connections with lost, changed and unexpected packets. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Device } from "../../../src/index.js";
import { routeOf } from "../../../src/model/queue/addressHandle.js";
import type { TransportCounters } from "../../../src/model/roce/counters.js";
import { roceFrame, type OutgoingPacket } from "../../../src/model/roce/frame.js";
import { bytesOf } from "../../../src/packet/bytes.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import {
  attributesOf,
  connectWatched,
  inSlot,
  join,
  openEnd,
  openPair,
  packetOf,
  pattern,
  post,
  postReceives,
  statuses,
  type End,
  type EndOptions,
  type Wire,
} from "../support/connected.js";

const MTU = 1024;
const { IBV_WC_SUCCESS: OK, IBV_WC_WR_FLUSH_ERR: FLUSHED, IBV_QPT_UC: UC } = v;
/** Offset of the BTH over IPv6. */
const BTH = 14 + 40 + 8;

let left: Device;
let right: Device;
let wire: Wire;
let a: End;
let b: End;

function open(options: EndOptions = {}, change = {}): void {
  [a, b] = [openEnd(left, options), openEnd(right, options)];
  join(a, b, change);
}

beforeEach(async () => {
  [left, right] = await openPair();
  wire = connectWatched(left, right);
});

/** Opcode and PSN of the packets that crossed the cable. */
const crossed = (): string =>
  wire.frames
    .splice(0)
    .map(packetOf)
    .map(({ opcode, psn }) => `${opcode.toString(16)}:${psn}`)
    .join(" ");
const counted = (end: End): Partial<TransportCounters> =>
  Object.fromEntries(Object.entries(end.qp.hw_counters ?? {}).filter(([, count]) => count > 0));
/** Loses these frames, by number. */
const lose = (...lost: number[]): void => {
  wire.onFrame = (frame, i) => (lost.includes(i) ? null : frame);
};

describe("RC", () => {
  test.each([
    // NAK for the second packet, which is repeated with all later ones.
    ["a packet in the middle", [1], "0:0 1:1 1:2 11:1 1:1 1:2 2:3 11:3", { packet_seq_err: 1 }, { out_of_sequence: 1 }],
    ["the first packet", [0], "0:0 1:1 11:0 0:0 1:1 1:2 2:3 11:3", { packet_seq_err: 1 }, { out_of_sequence: 1 }],
    [
      "the last packet",
      [3],
      "0:0 1:1 1:2 2:3 0:0 1:1 1:2 2:3 11:3",
      { local_ack_timeout_err: 1 },
      { duplicate_request: 3 },
    ],
    // All are repeated; the last one requests an acknowledgement, and gets another one.
    [
      "the acknowledgement",
      [4],
      "0:0 1:1 1:2 2:3 11:3 0:0 1:1 1:2 2:3 11:3",
      { local_ack_timeout_err: 1 },
      { duplicate_request: 4 },
    ],
    // One NAK only; the repeated packets are in order.
    [
      "a packet and what is said of it",
      [1, 3],
      "0:0 1:1 1:2 11:1 2:3 0:0 1:1 1:2 2:3 11:3",
      { local_ack_timeout_err: 1 },
      { out_of_sequence: 2, duplicate_request: 1 },
    ],
  ])("makes up for the loss of %s", (_, lost, packets, sender, receiver) => {
    open();
    postReceives(b);
    lose(...lost);
    post(a, pattern(4 * MTU));
    expect(crossed()).toBe(packets);
    expect([statuses(a.sent), statuses(b.received)]).toEqual([[[1, OK]], [[100, OK]]]);
    expect(inSlot(b, 0, 4 * MTU)).toEqual(pattern(4 * MTU));
    expect([counted(a), counted(b)]).toEqual([sender, receiver]);
    // The next message is not affected.
    wire.onFrame = (frame) => frame;
    post(a, pattern(3, 9));
    expect(crossed()).toBe("4:4 11:4");
    expect(statuses(b.received)).toEqual([[101, OK]]);
  });

  test.each([0, 1, 7])("gives up after retry_cnt %i, and is in error then", (retry_cnt) => {
    open({}, { retry_cnt });
    postReceives(a, 2);
    wire.onFrame = () => null;
    post(a, pattern(1), { send_flags: 0, wr_id: 5 });
    expect(wire.frames.length).toBe(1 + retry_cnt);
    expect(v.ibv_poll_cq(a.sent, 9)).toMatchObject([
      { wr_id: 5, status: v.IBV_WC_RETRY_EXC_ERR, opcode: v.IBV_WC_SEND, byte_len: 0 },
    ]);
    expect(statuses(a.received)).toEqual([
      [100, FLUSHED],
      [101, FLUSHED],
    ]);
    expect(a.qp.state).toBe(v.IBV_QPS_ERR);
    expect(counted(a)).toEqual({ local_ack_timeout_err: 1 + retry_cnt });
    post(a, pattern(1), { wr_id: 6 });
    expect(statuses(a.sent)).toEqual([[6, FLUSHED]]);
    expect(b.qp.state).toBe(v.IBV_QPS_RTS);
  });

  test("has all tries again with every packet that comes through", () => {
    open({}, { retry_cnt: 1 });
    postReceives(b);
    // One of every four packets is lost.
    let packets = 0;
    wire.onFrame = (frame) => (packetOf(frame).opcode !== 0x11 && ++packets % 4 === 0 ? null : frame);
    post(a, pattern(9 * MTU));
    expect(counted(a).packet_seq_err).toBeGreaterThan(2);
    expect([statuses(a.sent), statuses(b.received)]).toEqual([[[1, OK]], [[100, OK]]]);
    expect(inSlot(b, 0, 9 * MTU)).toEqual(pattern(9 * MTU));
  });

  test.each([0, 3, 7])("waits for a receive request rnr_retry %i times", (rnr_retry) => {
    open({}, { rnr_retry, min_rnr_timer: 21 });
    post(a, pattern(2 * MTU));
    const naks = wire.frames.filter((frame) => packetOf(frame).opcode === 0x11);
    expect(naks.map((frame) => [frame[BTH + 12], packetOf(frame).psn])).toEqual(
      Array.from({ length: 1 + rnr_retry }, () => [0x20 | 21, 0]),
    );
    // Only the first packet, repeatedly.
    expect(wire.frames.length).toBe(2 * naks.length);
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_RNR_RETRY_EXC_ERR]]);
    expect([counted(a), counted(b)]).toEqual([{ rnr_nak_retry_err: 1 }, { out_of_buffer: 1 + rnr_retry }]);
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_RTS]);
  });

  test("goes on when a request is posted meanwhile", () => {
    open({}, { rnr_retry: 1 });
    wire.onFrame = (frame, i) => {
      if (i === 1) postReceives(b, 1);
      return frame;
    };
    post(a, pattern(2 * MTU));
    expect(crossed()).toBe("0:0 11:0 0:0 2:1 11:1");
    expect([statuses(a.sent), statuses(b.received)]).toEqual([[[1, OK]], [[100, OK]]]);
  });

  test("takes a full completion queue for one without requests", () => {
    open({ cqe: 1 }, { rnr_retry: 0 });
    postReceives(b, 2);
    post(a, pattern(1));
    statuses(a.sent);
    post(a, pattern(1));
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_RNR_RETRY_EXC_ERR]]);
    expect(statuses(b.received)).toEqual([[100, OK]]);
  });

  test.each([
    ["in one packet", 100, 101],
    ["in its last packet", 2 * MTU + 1, 2 * MTU + 2],
    ["before its last packet", MTU + 1, 4 * MTU],
  ])("breaks both ends where a message is too long %s", (_, size, length) => {
    open();
    postReceives(b, 2, size);
    post(a, pattern(size));
    expect(statuses(b.received)).toEqual([[100, OK]]);
    expect(statuses(a.sent)).toEqual([[1, OK]]);
    post(a, pattern(length), { wr_id: 2 });
    expect(statuses(a.sent)).toEqual([[2, v.IBV_WC_REM_INV_REQ_ERR]]);
    postReceives(b, 1, size, 5);
    expect(statuses(b.received)).toEqual([
      [101, v.IBV_WC_LOC_LEN_ERR],
      [105, FLUSHED],
    ]);
    expect(inSlot(b, 1, size)).toEqual(new Uint8Array(size));
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_ERR]);
  });

  test.each([
    ["ahead", 500, 100, { out_of_sequence: 2 }],
    ["behind", 100, 500, { duplicate_request: 2 }],
  ])("never begins where the sender is %s of what the receiver expects", (_, sq_psn, rq_psn, receiver) => {
    open({}, { sq_psn, rq_psn, retry_cnt: 1 });
    postReceives(b);
    post(a, pattern(1));
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_RETRY_EXC_ERR]]);
    expect(statuses(b.received)).toEqual([]);
    expect(counted(b)).toEqual(receiver);
  });

  test("hears no answer of a peer in error", () => {
    open({}, { retry_cnt: 2 });
    v.ibv_modify_qp(b.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    post(a, pattern(1));
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_RETRY_EXC_ERR]]);
    expect(right.reasons().no_rule).toBe(3n);
  });
});

describe("UC", () => {
  beforeEach(() => {
    open({ type: UC });
    postReceives(b, 4, 3 * MTU);
  });

  test.each([0, 1, 2])("loses a message with its packet %i, and no other", (lost) => {
    lose(lost);
    post(a, pattern(3 * MTU), { wr_id: 1 });
    post(a, pattern(2 * MTU, 2), { wr_id: 2 });
    expect(crossed()).toBe("20:0 21:1 22:2 20:3 22:4");
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [2, OK],
    ]);
    // The receive request that the lost message started is available for the next one.
    expect(statuses(b.received)).toEqual([[100, OK]]);
    expect(inSlot(b, 0, 2 * MTU)).toEqual(pattern(2 * MTU, 2));
    expect([counted(a), counted(b)]).toEqual([{}, { out_of_sequence: 1 }]);
  });

  test("does not take the end of one message for that of another", () => {
    lose(2, 3);
    post(a, pattern(3 * MTU));
    post(a, pattern(3 * MTU, 2));
    post(a, pattern(7, 3));
    expect(statuses(b.received)).toEqual([[100, OK]]);
    expect(inSlot(b, 0, 7)).toEqual(pattern(7, 3));
  });

  test("loses messages without a request", () => {
    for (let i = 0; i < 5; i++) post(a, pattern(2 * MTU, i));
    expect(statuses(b.received).length).toBe(4);
    expect(counted(b)).toEqual({ out_of_buffer: 1 });
    postReceives(b, 1);
    post(a, pattern(4, 8));
    expect(statuses(b.received)).toEqual([[100, OK]]);
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_RTS, v.IBV_QPS_RTS]);
  });

  test("breaks the receiver where a message is too long", () => {
    post(a, pattern(3 * MTU + 1));
    expect(statuses(a.sent)).toEqual([[1, OK]]);
    expect(statuses(b.received)).toEqual([
      [100, v.IBV_WC_LOC_LEN_ERR],
      [101, FLUSHED],
      [102, FLUSHED],
      [103, FLUSHED],
    ]);
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_RTS, v.IBV_QPS_ERR]);
  });
});

describe("packets from elsewhere", () => {
  /** A packet as the end `a` could send it. */
  function forge(change: Partial<OutgoingPacket>): Uint8Array {
    const route = routeOf("attr", left, attributesOf(a, b).ah_attr as never);
    return roceFrame(route, {
      opcode: 4,
      source_qpn: 1,
      remote_qpn: b.qp.qp_num,
      pkey: 0xffff,
      psn: 0,
      solicited: false,
      ackRequest: true,
      headers: [],
      payload: [pattern(8)],
      ...change,
    });
  }
  const deliver = (change: Partial<OutgoingPacket>): string => {
    wire.frames.splice(0);
    const { verdict } = right.receive(1, forge(change));
    const answer = wire.frames[0];
    return `${verdict} ${answer?.[BTH + 12]?.toString(16) ?? "-"}`;
  };
  const full = [pattern(MTU)];
  const half = [pattern(MTU / 2)];
  const imm = [bytesOf(5, 4)];

  test("are acknowledged like others", () => {
    open();
    postReceives(b);
    expect(deliver({ psn: 0 })).toBe("deliver 1f");
    expect(deliver({ psn: 1, ackRequest: false })).toBe("deliver -");
    expect(deliver({ psn: 1, ackRequest: false })).toBe("deliver -");
    // Its last one.
    expect(deliver({ psn: 0 })).toBe("deliver 1f");
    expect(packetOf(wire.frames[0] as Uint8Array).psn).toBe(1);
    expect(deliver({ psn: 0x800000 + 1 })).toBe("deliver 60");
    expect(deliver({ psn: 0x800000 + 2 })).toBe("deliver 1f");
    expect(statuses(b.received)).toEqual([
      [100, OK],
      [101, OK],
    ]);
  });

  test.each<[string, Partial<OutgoingPacket>[]]>([
    ["a middle without a first one", [{ opcode: 1, payload: full }]],
    ["a last one without a first one", [{ opcode: 2, payload: half }]],
    [
      "two first ones",
      [
        { opcode: 0, payload: full },
        { opcode: 0, payload: full },
      ],
    ],
    ["an only one within a message", [{ opcode: 0, payload: full }, { opcode: 4 }]],
    ["a first one that is short", [{ opcode: 0, payload: half }]],
    [
      "a middle that is short",
      [
        { opcode: 0, payload: full },
        { opcode: 1, payload: half },
      ],
    ],
    [
      "an empty last one",
      [
        { opcode: 0, payload: full },
        { opcode: 2, payload: [] },
      ],
    ],
    [
      "a last one with immediate data alone",
      [
        { opcode: 0, payload: full },
        { opcode: 3, headers: imm, payload: [] },
      ],
    ],
    ["more than path_mtu", [{ opcode: 4, payload: [pattern(MTU + 1)] }]],
    ["immediate data that is cut", [{ opcode: 5, payload: [pattern(3)] }]],
    ["a write", [{ opcode: 0x0a, headers: [new Uint8Array(16)] }]],
    ["a read", [{ opcode: 0x0c, headers: [new Uint8Array(16)], payload: [] }]],
    ["an atomic", [{ opcode: 0x13, headers: [new Uint8Array(28)], payload: [] }]],
  ])("break RC, and lose a message of UC: %s", (_, packets) => {
    open();
    postReceives(b, 2);
    const answers = packets.map((packet, psn) => deliver({ ...packet, psn, ackRequest: false }));
    expect(answers).toEqual(packets.map((_packet, i) => (i === packets.length - 1 ? "deliver 61" : "deliver -")));
    expect(b.qp.state).toBe(v.IBV_QPS_ERR);
    const event = v.ibv_get_async_event(b.context);
    expect([event.event_type, event.element.qp]).toEqual([v.IBV_EVENT_QP_REQ_ERR, b.qp]);
    expect(statuses(b.received)).toEqual([
      [100, FLUSHED],
      [101, FLUSHED],
    ]);
    // A packet of UC starts a new message.
    open({ type: UC });
    postReceives(b, 2);
    for (const [psn, { opcode = 4, ...packet }] of packets.entries()) {
      expect(deliver({ ...packet, opcode: 0x20 | opcode, psn })).toBe("deliver -");
    }
    expect(deliver({ opcode: 0x24, psn: packets.length, payload: half })).toBe("deliver -");
    const got = statuses(b.received);
    expect([got.length > 0, got.every(([, status]) => status === OK)]).toEqual([true, true]);
    expect(inSlot(b, got.length - 1, MTU / 2)).toEqual(half[0]);
  });

  test("of another type of queue pair are not for it", () => {
    open();
    postReceives(b);
    for (const opcode of [0x24, 0x44, 0x64, 0x31, 0xa4]) expect(deliver({ opcode })).toBe("deliver -");
    expect([statuses(b.received), counted(b)]).toEqual([[], {}]);
    expect(deliver({})).toBe("deliver 1f");
  });

  test("come to stage 2 when they are of another peer, queue pair or port", () => {
    open();
    postReceives(b);
    const frame = forge({});
    const changed = (at: number): string => {
      const other = frame.slice();
      other[at] = (other[at] ?? 0) ^ 1;
      return right.receive(1, other).verdict;
    };
    // Source and destination address, destination queue pair, port.
    expect([14 + 8, 14 + 23, 14 + 24, 14 + 39, BTH + 5, BTH + 7, 14 + 42].map(changed)).toEqual(
      Array.from({ length: 7 }, () => "miss"),
    );
    expect([statuses(b.received), counted(b)]).toEqual([[], {}]);
  });

  test("with a wrong ICRC are dropped without a word; what it does not cover may change", () => {
    open();
    postReceives(b, 8);
    const frame = forge({});
    for (const at of [BTH + 9, BTH + 12, frame.length - 1, 14 + 40]) {
      const other = frame.slice();
      other[at] = (other[at] ?? 0) ^ 1;
      expect(right.receive(1, other).verdict).toBe("deliver");
    }
    expect([statuses(b.received), counted(b), wire.frames]).toEqual([[], { rx_icrc_encapsulated: 4 }, []]);
    const free = frame.slice();
    for (const at of [14 + 1, 14 + 2, 14 + 3, 14 + 7, 14 + 46, BTH + 4]) free[at] = (free[at] ?? 0) ^ 1;
    right.receive(1, free);
    expect(statuses(b.received)).toEqual([[100, OK]]);
  });

  test("may have tags, and bytes behind them", () => {
    open();
    postReceives(b);
    const frame = forge({});
    const tagged = Uint8Array.of(...frame.subarray(0, 12), 0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, ...frame.subarray(12));
    right.receive(1, tagged);
    right.receive(1, Uint8Array.of(...forge({ psn: 1 }), 0, 0, 0, 0, 0));
    expect(statuses(b.received)).toEqual([
      [100, OK],
      [101, OK],
    ]);
    expect(counted(b)).toEqual({});
  });

  test("that are cut, or say lengths that are not theirs, are malformed", () => {
    open();
    postReceives(b);
    const frame = forge({});
    const edited = (at: number, ...bytes: number[]): Uint8Array => {
      const other = frame.slice();
      other.set(bytes, at);
      return other;
    };
    const frames = [
      frame.subarray(0, frame.length - 1),
      frame.subarray(0, BTH + 12),
      // Payload length of IPv6, length of UDP, version of the BTH.
      edited(14 + 4, 0, 20),
      edited(14 + 44, 0, 9),
      edited(BTH + 1, 0x41),
    ];
    // A pad count greater than the payload.
    const empty = forge({ payload: [] });
    empty[BTH + 1] = 0x70;
    for (const one of [...frames, empty]) right.receive(1, one);
    expect([statuses(b.received), wire.frames]).toEqual([[], []]);
    expect(counted(b)).toEqual({ malformed: frames.length + 1 });
  });

  test("that acknowledge what was not sent are not looked at", () => {
    open({}, { retry_cnt: 0 });
    const answer = (psn: number, syndrome: number, length = 4): void => {
      const headers = [Uint8Array.of(syndrome, 0, 0, 1).subarray(0, length)];
      right.receive(1, forge({ opcode: 0x11, psn, headers, payload: [], ackRequest: false }));
    };
    // No message is in progress at b.
    answer(0, 0x1f);
    answer(0, 0x61);
    expect(b.qp.state).toBe(v.IBV_QPS_RTS);
    // An answer to a packet other than the lost one, while that one is outstanding.
    wire.onFrame = () => {
      answer(1, 0x1f);
      answer(0xffffff, 0x61);
      answer(0, 0x1f, 3);
      return null;
    };
    post(b, pattern(1));
    expect(statuses(b.sent)).toEqual([[1, v.IBV_WC_RETRY_EXC_ERR]]);
    expect(counted(b)).toEqual({ local_ack_timeout_err: 1, malformed: 1 });
  });

  test.each([
    [0x61, v.IBV_WC_REM_INV_REQ_ERR],
    [0x62, v.IBV_WC_REM_ACCESS_ERR],
    [0x63, v.IBV_WC_REM_OP_ERR],
    [0x64, v.IBV_WC_REM_OP_ERR],
  ])("NAK %i ends a request with status %i", (syndrome, status) => {
    open();
    wire.onFrame = () => {
      right.receive(1, forge({ opcode: 0x11, headers: [Uint8Array.of(syndrome, 0, 0, 0)], payload: [] }));
      return null;
    };
    post(b, pattern(1));
    expect(statuses(b.sent)).toEqual([[1, status]]);
    expect(wire.frames.length).toBe(1);
    expect(b.qp.state).toBe(v.IBV_QPS_ERR);
  });
});

describe("programs at the cable", () => {
  beforeEach(() => {
    open();
    postReceives(b, 8);
  });

  test("post messages that wait for the one under way", () => {
    wire.onFrame = (frame, i) => {
      if (i === 1) post(a, pattern(2 * MTU, 2), { wr_id: 2 });
      return frame;
    };
    post(a, pattern(3 * MTU), { wr_id: 1 });
    expect(crossed()).toBe("0:0 1:1 2:2 11:2 0:3 2:4 11:4");
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [2, OK],
    ]);
    expect(inSlot(b, 1, 2 * MTU)).toEqual(pattern(2 * MTU, 2));
  });

  test("flush those, with the one that fails", () => {
    wire.onFrame = (_, i) => {
      if (i === 0) post(a, pattern(1), { wr_id: 2, send_flags: 0 });
      return null;
    };
    post(a, pattern(1), { wr_id: 1 });
    expect(statuses(a.sent)).toEqual([
      [1, v.IBV_WC_RETRY_EXC_ERR],
      [2, FLUSHED],
    ]);
  });

  test("may take a queue pair away in the middle of a message", () => {
    const cut: [string, () => void, [number, number][]][] = [
      ["ERR", () => v.ibv_modify_qp(a.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE), [[1, FLUSHED]]],
      ["RESET", () => v.ibv_modify_qp(a.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE), []],
      ["gone", () => v.ibv_destroy_qp(a.qp), []],
    ];
    for (const [name, take, completions] of cut) {
      open();
      postReceives(b);
      wire.frames.splice(0);
      wire.onFrame = (frame, i) => {
        if (i === 1) take();
        return frame;
      };
      post(a, pattern(5 * MTU));
      expect([name, wire.frames.length, statuses(a.sent)]).toEqual([name, 2, completions]);
      expect(statuses(b.received)).toEqual([]);
      wire.onFrame = (frame) => frame;
    }
  });

  test("that throw leave a message, which the next one posted finishes", () => {
    wire.onFrame = (frame, i) => {
      if (i === 1) throw new Error("unplugged");
      return frame;
    };
    expect(() => post(a, pattern(3 * MTU), { wr_id: 1 })).toThrow("unplugged");
    expect(statuses(a.sent)).toEqual([]);
    expect(refused(() => v.ibv_destroy_cq(a.sent))?.code).toBe("EBUSY");
    wire.onFrame = (frame) => frame;
    post(a, pattern(4, 2), { wr_id: 2 });
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [2, OK],
    ]);
    expect([inSlot(b, 0, 3 * MTU), inSlot(b, 1, 4)]).toEqual([pattern(3 * MTU), pattern(4, 2)]);
  });
});
