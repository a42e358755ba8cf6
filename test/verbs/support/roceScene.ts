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
  return packets;
}
