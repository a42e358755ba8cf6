/** Copy on write: a branch that changes its bytes gets its own, with room in front; other branches keep theirs. */
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_BATCH, Op } from "../../../src/abi/engine.js";
import { Reason, Verdict } from "../../../src/abi/outcome.js";
import { L2_TO_L3_TUNNEL, REFORMAT_DATA, REFORMAT_LENGTH, REFORMAT_TYPE } from "../../../src/abi/reformat.js";
import { createRecord } from "../../../src/engine/records.js";
import { packet } from "../walk/support/twoCores.js";
import { tagged, World } from "./support/world.js";

/** The destination address, by which rules leave a frame alone. */
const LEFT_ALONE = { dst: 0x0a0000fe };
const NOT_CHANGED = { "outer.ipv4_dst": "10.0.0.254" };

let world: World;
beforeEach(async () => {
  world = await World.make();
  world.rule(world.root, [Op.queue, world.queue], NOT_CHANGED);
});

const TAGS = Array.from({ length: 60 }, (_, n) => (0x81000000 | (n + 1)) >>> 0);
const push = (count: number): number[] => TAGS.slice(0, count).flatMap((tag) => [Op.push_vlan, tag]);
/** Frames of a length, every second one of which is left alone. */
function mixed(count: number, payload: number): Uint8Array[] {
  return Array.from({ length: count }, (_, id) => {
    const bytes = new Uint8Array(payload).fill(id + 1);
    return packet({ ...(id % 2 === 0 ? LEFT_ALONE : {}), id, payload: bytes });
  });
}

function withTags(frames: readonly Uint8Array[], tags: readonly number[]): number[][] {
  return frames.map((frame, n) => (n % 2 === 0 ? Array.from(frame) : tagged(frame, tags)));
}

describe("tags", () => {
  it.each([1, 2, 31, 32, 33, 34, 60])("%i of them do not reach the frame in front", (count) => {
    world.rule(world.root, [...push(count), Op.queue, world.queue]);
    // Both an end at a multiple of 16 bytes and one behind it.
    for (const payload of [22, 23, 38]) {
      const frames = mixed(6, payload);
      world.steer(frames);
      expect(world.frames(6)).toEqual(withTags(frames, TAGS.slice(0, count)));
    }
  });

  it.each([1, 2, 32, 33])("%i of them are put in front of frames that are next to each other", (count) => {
    world.rule(world.root, [...push(count), Op.queue, world.queue]);
    for (const payload of [22, 23, 38]) {
      const frames = mixed(MAX_BATCH, payload);
      world.steerPacked(frames);
      expect(world.frames(MAX_BATCH)).toEqual(withTags(frames, TAGS.slice(0, count)));
    }
  });

  it("go on from the room that a removed one left", () => {
    world.rule(world.root, [Op.pop_vlan, 0, ...push(34), Op.queue, world.queue]);
    const frames = Array.from({ length: 4 }, (_, n) => packet({ ...(n % 2 === 0 ? LEFT_ALONE : {}), id: n }));
    const sent = frames.map((frame, n) => (n % 2 === 0 ? frame : Uint8Array.from(tagged(frame, [0x81000fff]))));
    world.steer(sent);
    expect(world.frames(4)).toEqual(withTags(frames, TAGS.slice(0, 34)));
  });

  it("are each destination's own", () => {
    const steps = TAGS.slice(0, 5).flatMap((tag) => [Op.queue, world.queue, Op.push_vlan, tag]);
    world.rule(world.root, [...steps, Op.queue, world.queue]);
    const frames = mixed(6, 26);
    for (const steer of [() => world.steer(frames), () => world.steerPacked(frames)]) {
      steer();
      for (const row of [1, 3, 5]) {
        const stages = [0, 1, 2, 3, 4, 5].map((n) => tagged(frames[row]!, TAGS.slice(0, n)));
        expect(world.arrived(row).map(({ frame }) => frame)).toEqual(stages);
      }
    }
  });
});

/** The room that the removed Ethernet header leaves, in bytes. */
it.each([127, 128, 142, 143, 144, 256])("a tunnel header of %i bytes does not reach the frame in front", (length) => {
  const record = new Uint8Array(REFORMAT_DATA + length);
  record[REFORMAT_TYPE] = L2_TO_L3_TUNNEL;
  new DataView(record.buffer).setUint16(REFORMAT_LENGTH, length, true);
  record.fill(0xab, REFORMAT_DATA);
  const reformat = createRecord(world.core, record);
  world.rule(world.root, [Op.reformat, reformat, Op.queue, world.queue]);
  for (const payload of [22, 38]) {
    const frames = mixed(4, payload);
    world.steer(frames);
    const header = Array.from({ length }, () => 0xab);
    const wanted = frames.map((frame, n) => (n % 2 === 0 ? Array.from(frame) : [...header, ...frame.slice(14)]));
    expect(world.frames(4)).toEqual(wanted);
  }
});

describe("memory of changed frames", () => {
  it("is more than one block, serves the next batch again, and does not count as used", () => {
    world.rule(world.root, [...push(1), Op.queue, world.queue]);
    const used = world.core.exports.arenaUsed() >>> 0;
    const sizes: number[] = [];
    for (let round = 0; round < 2; round++) {
      const frames = mixed(MAX_BATCH, 12_000);
      world.steerPacked(frames);
      for (const [row, wanted] of withTags(frames, TAGS.slice(0, 1)).entries()) {
        const bytes = world.batch.frameAt(world.batch.firstDestination(row));
        expect(bytes.length === wanted.length && wanted.every((byte, n) => byte === bytes[n])).toBe(true);
      }
      expect(world.core.exports.arenaUsed() >>> 0).toBe(used);
      sizes.push(world.core.exports.arenaTop() >>> 0);
    }
    expect(sizes[1]).toBe(sizes[0]);
  });

  it("may be missing, and the frame is dropped", () => {
    world.rule(world.root, [...push(1), Op.queue, world.queue]);
    world.core.exports.limitArena(world.core.exports.arenaUsed() + 65_536);
    const frames = mixed(4, 26);
    world.steerPacked(frames);
    for (const row of [1, 3]) {
      expect([world.batch.verdict(row), world.batch.reason(row)]).toEqual([Verdict.drop, Reason.copy_limit]);
      expect(world.arrived(row)).toEqual([]);
    }
    for (const row of [0, 2]) expect(world.arrived(row).map(({ frame }) => frame)).toEqual([Array.from(frames[row]!)]);
    expect(world.batch.reasons()[Reason.copy_limit]).toBe(2n);
  });
});
