/** Whole frames, of the generator and of captures. */
import { hasParser } from "../../../../src/model/traffic/links.js";
import type { TestFrame } from "../../../assembly/support/core.js";
import { KINDS, type Random, randomFrame, randomFrameOf } from "../../../oracle/generate/frame.js";
import { decodeAll } from "../../../packet/support/captureHelpers.js";
import { filesIn } from "../../files.js";

/** Of a large capture the first frames serve. */
const OF_CAPTURE = 200;

export function drawn(random: Random, captured: readonly TestFrame[]): TestFrame {
  if (random.chance(0.2)) return { ...random.pick(captured) };
  return random.chance(0.8) ? randomFrameOf(random, random.pick(KINDS)) : randomFrame(random);
}

export function capturedFrames(): TestFrame[] {
  return filesIn("test/captures", /\.pcap(ng)?$/).flatMap(({ bytes }) =>
    decodeAll(bytes)
      .frames.slice(0, OF_CAPTURE)
      .filter(({ linkType }) => hasParser(linkType))
      .map((frame) => ({
        bytes: frame.bytes,
        linkType: frame.linkType,
        wireLength: Math.max(frame.wireLength, frame.bytes.length),
      })),
  );
}
