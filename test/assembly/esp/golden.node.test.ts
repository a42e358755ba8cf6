/** The engine's ESP against what others have made (test/golden/support/espSuite.ts). */
import { describe } from "vitest";
import { espSuite } from "../../golden/support/espSuite.js";
import { EspBench } from "./support/bench.js";

const bench = await EspBench.open();

describe("the engine agrees with", () => {
  espSuite((settings) => {
    const work = bench.work(settings);
    return {
      take: (bytes, linkType = 1) => {
        const [result] = work.take([{ bytes, wireLength: bytes.length, linkType, port: 1, parser: {} }]);
        return result !== undefined && "frame" in result ? result.frame : null;
      },
      end: () => work.end(),
    };
  });
});
