/** ESP: packets through actions, and sequence numbers through replay windows. */
import { live, STREAM } from "../../assembly/esp/support/numbersLife.js";
import { NumbersCore } from "../../assembly/esp/support/replayWindowCore.js";
import { EspBench } from "../../assembly/esp/support/bench.js";
import { openSome, sealSome, Tally } from "../../assembly/esp/support/turns.js";
import type { Target } from "../target.js";

export const esp: Target = {
  name: "esp",
  about:
    "packets to encrypt and to decrypt, replayed, changed and forged, while keys, windows and numbers change: bytes, " +
    "verdicts and state as in the reference",
  unit: "packets",
  guide: "core",
  open: () =>
    Promise.resolve(async (random) => {
      const bench = await EspBench.open();
      const tally = new Tally();
      for (let left = random.between(1, 3); left > 0; left--)
        (random.chance(0.4) ? sealSome : openSome)(random, bench, tally);
      return tally.frames;
    }),
};

export const numbers: Target = {
  name: "numbers",
  about: "sequence numbers of ESP around the ends of windows, of 2^32 and of 2^64: welcome, old or refused as in a set",
  unit: "numbers",
  guide: null,
  open: async () => {
    const core = await NumbersCore.make();
    return (random) => {
      live(random, core, new Map());
      return STREAM;
    };
  },
};
