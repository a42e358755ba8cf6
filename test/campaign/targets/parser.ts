/** Frames through the parser of the core. */
import { loadOpenCore } from "../../support/openCore.js";
import { parseAll, type TestFrame } from "../../assembly/support/core.js";
import { compareParse } from "../../assembly/wire/support/compare.js";
import { declare } from "../../assembly/wire/support/declare.js";
import { broken } from "../../assembly/wire/support/mutate.js";
import { ParseProbe } from "../../assembly/wire/support/probe.js";
import { NEEDS_ALL } from "../../../src/abi/key.js";
import { DECLARED } from "../../oracle/generate/frame.js";
import type { Target } from "../target.js";
import { capturedFrames, drawn } from "./support/whole.js";

/** Broken frames made from each whole one. */
const BROKEN = 24;

export const parser: Target = {
  name: "parser",
  about:
    "frames of every header and of captures, whole and broken, at the very end of memory: no trap, no read beside the " +
    "frame, the same key whatever is required, and every field as in the reference",
  unit: "frames",
  guide: "core",
  open: async () => {
    const probe = new ParseProbe(declare(await loadOpenCore(), DECLARED), "the core", "the words of the input");
    const beside = declare(await loadOpenCore(), DECLARED);
    const captured = capturedFrames();
    return (random) => {
      const whole = drawn(random, captured);
      const other = drawn(random, captured);
      const frames = [whole];
      const headers = probe.check(whole, random.below(NEEDS_ALL + 1));
      for (let n = 0; n < BROKEN; n++) {
        const frame = broken(whole, headers, other, random);
        probe.check(frame, random.below(NEEDS_ALL + 1));
        frames.push(frame);
      }
      // The reference takes as long as some hundred frames of the core.
      const compared = [whole, random.pick(frames)];
      parseAll(beside, compared, (n, key, map) => compareParse(compared[n] as TestFrame, key, map, DECLARED));
      return frames.length;
    };
  },
};
