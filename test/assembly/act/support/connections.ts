/** Connections under test: frames made of segments, sent through a rule of each direction, and held to the reference. */
import { expect } from "vitest";
import {
  CONNECTION_CONTEXT,
  CONNECTION_SIZE,
  DIRECTION_ORIGINAL,
  DIRECTION_REPLY,
} from "../../../../src/abi/connection.js";
import { Op, QUEUE_READY, QUEUE_SINK, TABLE_ROOT } from "../../../../src/abi/engine.js";
import { Batch } from "../../../../src/engine/batch.js";
import type { Core } from "../../../../src/engine/core.js";
import { loadOpenCore } from "../../../support/openCore.js";
import { createRecord } from "../../../../src/engine/records.js";
import { insertRule } from "../../../../src/engine/rules.js";
import { connectionBytes, connectionFromBytes, type Connection } from "../../../../src/model/action/connection.js";
import { linkOf } from "../../../../src/model/traffic/links.js";
import { matchOf } from "../../../../src/model/match/match.js";
import {
  emptyConnection,
  trackReference,
  type PlainConnection,
  type Tracked,
  type Way,
} from "../../../oracle/act/connection.js";
import type { TrackedFrame } from "../../../oracle/act/tcpSegment.js";

export const FIN = 1;
export const SYN = 2;
export const RST = 4;
export const PSH = 8;
export const ACK = 16;

export const SECOND = 1_000_000_000n;
const REGISTER = 3;

export interface SegmentFields {
  flags: number;
  seq: number;
  ack?: number;
  win?: number;
  /** Bytes of payload. */
  data?: number;
  /** Padded to whole words. */
  options?: readonly number[];
  ipv6?: boolean;
  /** Bytes behind the packet. */
  padding?: number;
}

/** An Ethernet frame with one TCP segment; checksums are not looked at. */
export function segmentFrame({
  flags,
  seq,
  ack = 0,
  win = 65535,
  data = 0,
  options = [],
  ipv6,
  padding = 0,
}: SegmentFields): Uint8Array {
  const words = Math.ceil(options.length / 4);
  const size = 20 + 4 * words;
  const network = ipv6 ? 40 : 20;
  const bytes = new Uint8Array(14 + network + size + data + padding);
  const view = new DataView(bytes.buffer);
  view.setUint16(12, ipv6 ? 0x86dd : 0x0800);
  if (ipv6) {
    view.setUint32(14, 0x60000000);
    view.setUint16(18, size + data);
    bytes.set([6, 64], 20);
  } else {
    view.setUint16(14, 0x4500);
    view.setUint16(16, 20 + size + data);
    bytes.set([64, 6], 22);
  }
  const tcp = 14 + network;
  view.setUint32(tcp + 4, seq % 2 ** 32);
  view.setUint32(tcp + 8, ack % 2 ** 32);
  bytes[tcp + 12] = (size / 4) << 4;
  bytes[tcp + 13] = flags;
  view.setUint16(tcp + 14, win);
  bytes.set(options, tcp + 20);
  return bytes;
}

export interface TestSegment extends TrackedFrame {
  original: boolean;
}

/** A core with a table that tells directions by port, and one connection in it at a time. */
export class ConnectionWorld {
  readonly core: Core;
  readonly batch: Batch;
  readonly #queue: number;
  #root = 0;
  #record = 0;
  tracked: Tracked = { context: emptyConnection(), time: null };

  private constructor(core: Core) {
    this.core = core;
    this.batch = new Batch(core);
    this.#queue = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  }

  static async make(): Promise<ConnectionWorld> {
    return new ConnectionWorld(await loadOpenCore());
  }

  /** Begins with another context. */
  open(context: PlainConnection = emptyConnection()): void {
    const { core } = this;
    if (this.#root !== 0) {
      core.exports.destroyTable(this.#root);
      core.exports.releaseRecord(this.#record, CONNECTION_SIZE);
    }
    this.#root = core.exports.createTable(TABLE_ROOT) >>> 0;
    const bytes = new Uint8Array(CONNECTION_SIZE);
    bytes.set(connectionBytes("context", context));
    this.#record = createRecord(core, bytes);
    for (const [port, direction] of [DIRECTION_ORIGINAL, DIRECTION_REPLY].entries()) {
      const match = matchOf("match", { "ext.port": port + 1 });
      const actions = [Op.state, REGISTER | (direction << 8), Op.track, this.#record, Op.queue, this.#queue];
      const rule = { id: port, rankHigh: 0, rankLow: port, ...match, actions };
      expect(insertRule(core, this.#root, rule)).not.toBe(0);
    }
    this.tracked = { context: structuredClone(context), time: null };
  }

  /** Sends frames in one batch; what the reference says of each. The engine is held to it. */
  send(frames: readonly TestSegment[], note = ""): Way[] {
    const { batch, tracked } = this;
    batch.clear();
    for (const { bytes, wireLength, linkType, time, original } of frames) {
      const put = batch.put(bytes, wireLength, original ? 1 : 2, linkOf("linkType", linkType));
      if (put < 0) throw new Error("more frames than a batch takes");
      batch.stamp(time);
    }
    const before = { time: tracked.time, context: JSON.stringify(tracked.context) };
    batch.steer(this.#root);
    const ways = frames.map((frame) => trackReference(tracked, frame, frame.original));
    const seen = ways.map((_, i) => batch.register(i, REGISTER));
    const said = ways.map(({ syndrome }) => syndrome);
    const told = frames.every((_, i) => seen[i] === said[i] && batch.written(i) === 1 << REGISTER);
    if (!told || !isSame(this.context(), tracked.context)) {
      const text = `${note} ${JSON.stringify({ before, frames: frames.map(textOf), ways }, plain)}`;
      expect({ seen, context: this.context() }, text).toEqual({ seen: said, context: tracked.context });
      throw new Error(`a register was not written: ${text}`);
    }
    return ways;
  }

  /** The connection as the core has it. */
  context(): Connection {
    const bytes = this.core.u8.subarray(this.#record, this.#record + CONNECTION_CONTEXT);
    return connectionFromBytes("context", bytes);
  }
}

/** Quicker than a matcher, which says what is different. */
function isSame(a: object, b: object): boolean {
  return Object.entries(a).every(([name, value]: [string, unknown]) => {
    const other = (b as Record<string, unknown>)[name];
    return typeof value === "object" ? isSame(value as object, other as object) : value === other;
  });
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function textOf({ bytes, wireLength, time, original }: TestSegment): string {
  const hex = Array.from(bytes.subarray(0, 120), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${original ? "->" : "<-"} ${wireLength} at ${time}: ${hex}`;
}
