// Compares the ESP reference with packets of other implementations (scripts/golden-esp.mjs,
// golden-esp.py, test/captures/README.md).
import { describe } from "vitest";
import { espSuite } from "../../golden/support/espSuite.js";
import { associate, openFully, sealFully } from "./esp.js";

describe("the reference agrees with", () => {
  espSuite((settings) => {
    const sa = associate(settings);
    return {
      take: (bytes, linkType = 1) => {
        const frame = { bytes, wireLength: bytes.length, linkType, port: 1, parser: {} };
        const made = settings.encrypt ? sealFully(sa, frame) : openFully(sa, frame);
        return typeof made === "string" ? null : made.bytes;
      },
      end: () => undefined,
    };
  });
});
