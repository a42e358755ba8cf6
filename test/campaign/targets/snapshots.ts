/** Snapshots: copies that go on as the device does, and damaged ones. */
import { expect } from "vitest";
import { SteeringError } from "../../../src/index.js";
import { attachmentsOf, cloneDevice, snapshotOf } from "../../../src/snapshot/index.js";
import { sameState } from "../../snapshot/support/same.js";
import { answer, drawStep, openWorld } from "../../snapshot/support/world.js";
import type { Random } from "../../oracle/generate/random.js";
import type { Target } from "../target.js";
import { brokenBytes } from "./support/broken.js";

const STEPS = 40;
/** Damages of each snapshot. */
const DAMAGED = 48;
/** Its head and the first objects. */
const HEAD = 512;

export const snapshots: Target = {
  name: "snapshots",
  about:
    "of devices with rules, a meter, messages under way: a copy from a snapshot answers every later call as the device " +
    "does, and up to 48 damages of the snapshot are refused",
  unit: "snapshots",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const draw = (): number => random.word();
      const world = await openWorld(draw);
      const before = random.below(STEPS);
      for (let n = 0; n < before; n++) answer(drawStep(draw), world);
      const { kept: copy } = await cloneDevice(world.device, { keep: world });
      for (let n = before; n < STEPS; n++) {
        const step = drawStep(draw);
        expect(answer(step, copy), `step ${n}`).toBe(answer(step, world));
      }
      sameState(world.device, copy.device, world, copy);
      const bytes = snapshotOf(world.device, { keep: world });
      let tried = 1;
      for (let n = 0; n < DAMAGED; n++) if (damage(bytes, random)) tried++;
      return tried;
    }),
};

/** Damages a snapshot, which is as before afterwards. @returns whether it was damaged, and was refused */
function damage(bytes: Uint8Array, random: Random): boolean {
  // Most faults need no copy of its two megabytes.
  const at = random.below(random.chance(0.5) ? bytes.length : HEAD);
  switch (random.below(8)) {
    case 0: {
      const damaged = brokenBytes(bytes, bytes, random);
      if (Buffer.compare(damaged, bytes) === 0) return false;
      expectRefused(damaged);
      return true;
    }
    case 1:
      expectRefused(bytes.subarray(0, at));
      return true;
    default: {
      const was = bytes[at] as number;
      bytes[at] = was ^ (1 + random.below(255));
      expectRefused(bytes);
      bytes[at] = was;
      return true;
    }
  }
}

function expectRefused(damaged: Uint8Array): void {
  try {
    attachmentsOf(damaged);
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    expect(error.reason).toBe("bad_snapshot");
    return;
  }
  throw new Error("a damaged snapshot is read");
}
