/** Times of the ciphers, measured. */
import { SURELY, timesOf } from "../../assembly/crypto/support/times.js";
import { Random } from "../../oracle/generate/random.js";
import { loadOpenCore } from "../../support/openCore.js";
import type { Target } from "../target.js";

const SECRETS = ["data", "keys", "where a wrong ICV is wrong"] as const;
const SAMPLES = 4_000;
/** Other work of the machine makes times differ now and then; a leak makes them differ each time. */
const TRIES = 4;

export const times: Target = {
  name: "times",
  about:
    "times of sealing and opening for two kinds of data, of keys and of wrong ICVs, as dudect compares them: of " +
    `${TRIES} measurements one has a Welch's t below ${SURELY}; the largest so far is printed`,
  unit: "samples",
  guide: null,
  open: async () => {
    const core = await loadOpenCore();
    let largest = 0;
    return (input) => {
      // The words of an input are counted, and these are many.
      const random = new Random(input.word());
      let samples = 0;
      for (const secret of SECRETS) {
        let least = Infinity;
        for (let left = TRIES; left > 0 && least >= SURELY; left--) {
          least = Math.min(least, timesOf(core, random, secret, SAMPLES));
          samples += SAMPLES;
        }
        if (least >= SURELY) throw new Error(`times tell ${secret}: t = ${least.toFixed(1)}, ${TRIES} times`);
        if (least > largest) console.log(`times           t = ${(largest = least).toFixed(2)}: ${secret}`);
      }
      return samples;
    };
  },
};
