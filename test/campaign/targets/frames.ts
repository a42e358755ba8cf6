/** Frames by the million through the parser of the core: whole ones, broken where they lie in its memory. */
import { FRAME_LENGTH, FRAME_SIZE, FRAME_WIRE_LENGTH, MAX_BATCH } from "../../../src/abi/engine.js";
import { NEEDS_ALL } from "../../../src/abi/key.js";
import { Batch } from "../../../src/engine/batch.js";
import { linkOf } from "../../../src/model/traffic/links.js";
import { frameText, parseAll, type TestFrame } from "../../assembly/support/core.js";
import { compareParse } from "../../assembly/wire/support/compare.js";
import { declare } from "../../assembly/wire/support/declare.js";
import { holdMap } from "../../assembly/wire/support/holdMap.js";
import { type Place, placesIn, write, wrongNumber } from "../../assembly/wire/support/mutate.js";
import { ParseProbe } from "../../assembly/wire/support/probe.js";
import { DECLARED, Random } from "../../oracle/generate/frame.js";
import { loadOpenCore } from "../../support/openCore.js";
import type { Target } from "../target.js";
import { capturedFrames, drawn } from "./support/whole.js";

/** How often the frames of a batch are broken, each time in another way. */
const ROUNDS = 256;
/** Rounds for each comparison with the reference, which takes as long as a hundred frames of the core. */
const COMPARED = 16;
/** Longer ones would fill the memory for frames. */
const MAX_LENGTH = 2048;

/** A whole frame, and where it lies in the core. */
interface Slot {
  whole: TestFrame;
  places: readonly Place[];
  bytes: Uint8Array;
  map: DataView;
  /** Of the broken frame. */
  length: number;
  wireLength: number;
}

export const frames: Target = {
  name: "frames",
  about:
    "as the parser target, by the million: no trap, headers and payloads within the frame, a stop that the frame has a " +
    `reason for; one frame of ${(COMPARED * MAX_BATCH).toLocaleString("en-US")} is compared with the reference`,
  unit: "frames",
  guide: "core",
  open: async () => {
    const batch = new Batch(declare(await loadOpenCore(), DECLARED));
    const probe = new ParseProbe(declare(await loadOpenCore(), DECLARED), "the core", "the words of the input");
    const beside = declare(await loadOpenCore(), DECLARED);
    const captured = capturedFrames();
    return (random) => {
      const slots = fill(batch, random, captured, probe);
      // The words of an input are counted, and these are many.
      const faults = new Random(random.word());
      const { u32, frames: first } = batch.core;
      for (let round = 0; round < ROUNDS; round++) {
        for (let row = 0; row < slots.length; row++)
          breakFrame(u32, first + row * FRAME_SIZE, slots[row] as Slot, faults);
        parse(batch, slots);
        for (const slot of slots) holdMap(slot.map, slot.length, slot.wireLength, (what) => fail(what, slot));
        if (round % COMPARED > 0) continue;
        const frame = broken(faults.pick(slots));
        probe.check(frame, faults.below(NEEDS_ALL + 1));
        parseAll(beside, [frame], (_, key, map) => compareParse(frame, key, map, DECLARED));
      }
      return slots.length * ROUNDS;
    };
  },
};

/** Whole frames in all rows of the batch. */
function fill(batch: Batch, random: Random, captured: readonly TestFrame[], probe: ParseProbe): Slot[] {
  const slots: Slot[] = [];
  batch.clear();
  while (slots.length < MAX_BATCH) {
    const whole = drawn(random, captured);
    if (whole.bytes.length > MAX_LENGTH) continue;
    const { bytes, wireLength, linkType, port } = whole;
    const row = batch.put(bytes, wireLength, port ?? 1, linkOf("linkType", linkType));
    const places = placesIn(probe.check(whole, NEEDS_ALL));
    slots.push({ whole, places, bytes: batch.frame(row), map: batch.map(row), length: bytes.length, wireLength });
  }
  return slots;
}

/** One to three faults in the whole frame. */
function breakFrame(words: Uint32Array, descriptor: number, slot: Slot, random: Random): void {
  const { whole, places, bytes } = slot;
  let { length } = bytes;
  bytes.set(whole.bytes);
  slot.wireLength = whole.wireLength;
  for (let left = random.between(1, 3); left > 0 && length > 0; left--) {
    const kind = random.below(8);
    if (kind < 3) bytes[random.below(Math.min(length, 80))]! ^= 1 << random.below(8);
    else if (kind < 7 && places.length > 0) {
      const { at, size } = random.pick(places);
      write(bytes, at, size, wrongNumber(random, Math.max(length - at, 1)));
    } else {
      length = random.below(length + 1);
      // Cut by the capture, or that short on the wire.
      if (random.chance(0.5)) slot.wireLength = length;
    }
  }
  slot.length = length;
  words[(descriptor + FRAME_LENGTH) >> 2] = length;
  words[(descriptor + FRAME_WIRE_LENGTH) >> 2] = slot.wireLength;
}

function parse(batch: Batch, slots: readonly Slot[]): void {
  try {
    batch.parse(NEEDS_ALL);
  } catch (error) {
    const text = slots.map((slot) => frameText(broken(slot))).join("\n");
    throw new Error(`trap: ${String(error)}: one of\n${text}`, { cause: error });
  }
}

/** A copy of the frame as it is now. */
function broken({ whole, bytes, length, wireLength }: Slot): TestFrame {
  return { ...whole, bytes: bytes.slice(0, length), wireLength };
}

function fail(what: string, slot: Slot): never {
  throw new Error(`${what}: ${frameText(broken(slot))}`);
}
