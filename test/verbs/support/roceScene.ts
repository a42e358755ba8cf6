/**
 * Packets of connections of every kind, as they cross a cable, and the expected content of each.
 */
import type { Device } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { connectWatched, join, openEnd, openPair, pattern, post, postReceives, type End } from "./connected.js";

/** In tshark's names and format. */
export interface Said {
  opcode: string;
  destqp: string;
  psn: string;
  /** Acknowledge request, solicited event, pad count. */
  a: string;
  se: string;
  padcnt: string;
  /** Hexadecimal, "" if there is none. */
  immdt: string;
  /** With its padding. */
  payload: string;
  /** Syndrome and message sequence number, "" if there are none. */
  aeth: string;
  /** Of a RETH: address, key and length; of an AtomicETH: swap or add, compare; "" if there are none. */
  reth: string;
  atomic: string;
  /** The original value of an atomic operation, "" if there is none. */
  original: string;
  /** Of a DETH: Q_Key and source queue pair, "" if there are none. */
  deth: string;
}

export interface ScenePacket {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly says: Said;
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

function request(to: End, opcode: number, psn: number, payload: Uint8Array, more: Partial<Said> = {}): Said {
  const padcnt = String(-payload.length & 3);
  return {
    opcode: String(opcode),
    destqp: `0x${to.qp.qp_num.toString(16).padStart(6, "0")}`,
    psn: String(psn),
    a: "0",
    se: "0",
    padcnt,
    immdt: "",
    payload: hex(payload) + "00".repeat(-payload.length & 3),
    aeth: "",
    reth: "",
    atomic: "",
    original: "",
    deth: "",
    ...more,
  };
}

const answer = (to: End, psn: number, syndrome: number, msn: number): Said =>
  request(to, 17, psn, new Uint8Array(), { aeth: `${syndrome} ${msn}` });

const MTU = 256;

/** The frames that cross the cable while a program runs, with their expected content. */
function during(left: Device, right: Device, name: string, run: () => void, says: readonly Said[]): ScenePacket[] {
  const { frames } = connectWatched(left, right);
  run();
  left.disconnect(1);
  right.disconnect(1);
  if (frames.length !== says.length) throw new Error(`${name}: ${frames.length} packets, not ${says.length}`);
  return frames.map((bytes, i) => ({ name: `${name} ${i}`, bytes, says: says[i] as Said }));
}

export async function roceScene(): Promise<ScenePacket[]> {
  const [left, right] = await openPair();
  // Queue pair 1 of InfiniBand is for management, and tshark decodes its packets that way.
  for (const device of [left, right]) openEnd(device);
  const connect = (type: number, gid: number, change = {}): [End, End] => {
    const ends: [End, End] = [openEnd(left, { type }), openEnd(right, { type })];
    join(
      ...ends,
      { path_mtu: v.IBV_MTU_256, sq_psn: 0xfffffe, rq_psn: 0xfffffe, retry_cnt: 0, rnr_retry: 0, ...change },
      gid,
    );
    return ends;
  };
  const part = (i: number, length = MTU): Uint8Array => pattern(3 * MTU).subarray(i * MTU, i * MTU + length);
  const packets: ScenePacket[] = [];
  for (const [family, gid] of [
    ["IPv6", 0],
    ["IPv4", 1],
  ] as const) {
    const [a, b] = connect(v.IBV_QPT_RC, gid, { min_rnr_timer: 14 });
    postReceives(b, 3, 1024);
    const message = (): void => {
      const send_flags = v.IBV_SEND_SIGNALED | v.IBV_SEND_SOLICITED;
      post(a, pattern(2 * MTU + 5), { opcode: v.IBV_WR_SEND_WITH_IMM, imm_data: 0xcafef00d, send_flags });
    };
    packets.push(
      ...during(left, right, `RC ${family} three packets`, message, [
        request(b, 0, 0xfffffe, part(0)),
        request(b, 1, 0xffffff, part(1)),
        request(b, 3, 0, part(2, 5), { a: "1", se: "1", immdt: "cafef00d" }),
        answer(a, 0, 0x1f, 1),
      ]),
      ...during(
        left,
        right,
        `RC ${family} nothing, with immediate data`,
        () => post(a, new Uint8Array(), { opcode: v.IBV_WR_SEND_WITH_IMM, imm_data: 1 }),
        [request(b, 5, 1, new Uint8Array(), { a: "1", immdt: "00000001" }), answer(a, 1, 0x1f, 2)],
      ),
      ...during(left, right, `RC ${family} two packets`, () => post(a, pattern(2 * MTU)), [
        request(b, 0, 2, part(0)),
        request(b, 2, 3, part(1), { a: "1" }),
        answer(a, 3, 0x1f, 3),
      ]),
      // No request is left.
      ...during(left, right, `RC ${family} RNR`, () => post(a, pattern(31)), [
        request(b, 4, 4, pattern(31), { a: "1" }),
        answer(a, 4, 0x20 | 14, 3),
      ]),
    );
    const [c, d] = connect(v.IBV_QPT_RC, gid, { rq_psn: 0xfffffd });
    postReceives(d, 1, 2);
    packets.push(
      ...during(left, right, `RC ${family} too early`, () => post(c, pattern(33)), [
        request(d, 4, 0xfffffe, pattern(33), { a: "1" }),
        answer(c, 0xfffffd, 0x60, 0),
      ]),
    );
    const [e, f] = connect(v.IBV_QPT_RC, gid);
    postReceives(f, 1, 2);
    packets.push(
      ...during(left, right, `RC ${family} too long`, () => post(e, pattern(31)), [
        request(f, 4, 0xfffffe, pattern(31), { a: "1" }),
        answer(e, 0xfffffe, 0x61, 0),
      ]),
    );
    const [g, h] = connect(v.IBV_QPT_UC, gid);
    packets.push(
      ...during(
        left,
        right,
        `UC ${family}`,
        () => {
          post(g, pattern(2 * MTU + 9));
          post(g, pattern(10), { opcode: v.IBV_WR_SEND_WITH_IMM, imm_data: 7 });
        },
        [
          request(h, 0x20, 0xfffffe, part(0)),
          request(h, 0x21, 0xffffff, part(1)),
          request(h, 0x22, 0, part(2, 9)),
          request(h, 0x25, 1, pattern(10), { immdt: "00000007" }),
        ],
      ),
    );
  }
  packets.push(...memoryScene(left, right, connect));
  return packets;
}

/** Operations on memory of the peer, and datagrams, over IPv6. */
function memoryScene(
  left: Device,
  right: Device,
  connect: (type: number, gid: number, change?: object) => [End, End],
): ScenePacket[] {
  const remote = v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_REMOTE_READ | v.IBV_ACCESS_REMOTE_ATOMIC;
  const [a, b] = connect(v.IBV_QPT_RC, 0, { qp_access_flags: remote });
  postReceives(b, 1, 8);
  const memory = new Uint8Array(1024);
  const { rkey } = v.ibv_reg_mr_iova(b.pd, memory, undefined, 0x1234_5678_9abcn, remote | v.IBV_ACCESS_LOCAL_WRITE);
  const rdma = { remote_addr: 0x1234_5678_9ac0n, rkey };
  const key = `0x${rkey.toString(16).padStart(8, "0")}`;
  const reth = (length: number): string => `0x0000123456789ac0 ${key} ${length}`;
  const at = (i: number, length = MTU): Uint8Array => pattern(3 * MTU).subarray(i * MTU, i * MTU + length);
  const none = new Uint8Array();
  const operate =
    (opcode: number, length: number, more = {}) =>
    (): void =>
      post(a, pattern(length), { opcode, wr: { rdma }, ...more });
  const add = { atomic: { ...rdma, remote_addr: 0x1234_5678_9ac0n, compare_add: 5n } };
  const swap = { atomic: { ...rdma, compare_add: 0x0706_0504_0302_0106n, swap: 9n } };
  const length = 2 * MTU + 5;
  return [
    ...during(left, right, "RC IPv6 WRITE, three packets", operate(v.IBV_WR_RDMA_WRITE, length), [
      request(b, 6, 0xfffffe, at(0), { reth: reth(length) }),
      request(b, 7, 0xffffff, at(1)),
      request(b, 8, 0, at(2, 5), { a: "1" }),
      answer(a, 0, 0x1f, 1),
    ]),
    ...during(
      left,
      right,
      "RC IPv6 WRITE, immediate data",
      operate(v.IBV_WR_RDMA_WRITE_WITH_IMM, 3, { imm_data: 0xcafe }),
      [request(b, 0xb, 1, at(0, 3), { a: "1", reth: reth(3), immdt: "0000cafe" }), answer(a, 1, 0x1f, 2)],
    ),
    ...during(left, right, "RC IPv6 READ, three packets", operate(v.IBV_WR_RDMA_READ, length), [
      request(b, 0xc, 2, none, { a: "1", reth: reth(length) }),
      request(a, 0xd, 2, at(0), { aeth: "31 3" }),
      request(a, 0xe, 3, at(1)),
      request(a, 0xf, 4, at(2, 5), { aeth: "31 3" }),
    ]),
    ...during(left, right, "RC IPv6 READ, one packet", operate(v.IBV_WR_RDMA_READ, 8), [
      request(b, 0xc, 5, none, { a: "1", reth: reth(8) }),
      request(a, 0x10, 5, at(0, 8), { aeth: "31 4" }),
    ]),
    ...during(left, right, "RC IPv6 fetch and add", operate(v.IBV_WR_ATOMIC_FETCH_AND_ADD, 8, { wr: add }), [
      request(b, 0x14, 6, none, { a: "1", reth: `0x0000123456789ac0 ${key} `, atomic: "5 0" }),
      request(a, 0x12, 6, none, { aeth: "31 5", original: original(at(0, 8)) }),
    ]),
    ...during(left, right, "RC IPv6 compare and swap", operate(v.IBV_WR_ATOMIC_CMP_AND_SWP, 8, { wr: swap }), [
      request(b, 0x13, 7, none, { a: "1", reth: `0x0000123456789ac0 ${key} `, atomic: "9 506097522914230534" }),
      request(a, 0x12, 7, none, { aeth: "31 6", original: (BigInt(original(at(0, 8))) + 5n).toString() }),
    ]),
    ...during(
      left,
      right,
      "RC IPv6 no access",
      operate(v.IBV_WR_RDMA_READ, 4, { wr: { rdma: { ...rdma, rkey: 0xffff } } }),
      [request(b, 0xc, 8, none, { a: "1", reth: "0x0000123456789ac0 0x0000ffff 4" }), answer(a, 8, 0x62, 6)],
    ),
  ];
}

/** The number in the first eight bytes, as a little-endian host has it. */
function original(bytes: Uint8Array): string {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true).toString();
}
