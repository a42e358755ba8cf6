/** Capture files through the reader, and their frames through the printer. */
import { expect } from "vitest";
import { createDevice, type Device, SteeringError } from "../../../src/index.js";
import { MAX_FRAME } from "../../../src/abi/engine.js";
import { hasParser } from "../../../src/model/traffic/links.js";
import { printParsed } from "../../../src/packet/index.js";
import type { CapturedFrame } from "../../../src/packet/capture/read.js";
import { PcapngWriter, PcapWriter } from "../../../src/packet/capture/writer.js";
import { randomFrame } from "../../oracle/generate/frame.js";
import type { Random } from "../../oracle/generate/random.js";
import { concat, decodeAll } from "../../packet/support/captureHelpers.js";
import { filesIn } from "../files.js";
import type { Target } from "../target.js";
import { brokenBytes } from "./support/broken.js";

/** Files of a run. */
const FILES = 8;
/** Frames of a file that are printed. */
const PRINTED = 2;
/** Times of a pcap file end here. */
const LATEST = 2n ** 32n * 1_000_000_000n;
/** Beyond this a file is not read byte by byte. */
const SMALL = 3000;

export const captures: Target = {
  name: "captures",
  about:
    "capture files of both formats, whole and broken, in chunks of any size: read or refused in the same cases, no frame " +
    "longer than its file, and every frame is printed",
  unit: "files",
  guide: "host",
  open: async () => {
    const files = filesIn("test/captures", /\.pcap(ng)?$/).filter(({ bytes }) => bytes.length < 60_000);
    const device = await createDevice({ name: "printer" });
    return (random) => {
      for (let n = 0; n < FILES; n++) {
        const made = (): Uint8Array => (random.chance(0.5) ? random.pick(files).bytes : written(random));
        const file = brokenBytes(made(), made(), random);
        const frames = compare(file, random);
        for (let left = PRINTED; left > 0 && frames.length > 0; left--) print(device, random.pick(frames));
      }
      return FILES;
    };
  },
};

/** A file of random frames. */
function written(random: Random): Uint8Array {
  const littleEndian = random.chance(0.7);
  const frames = Array.from({ length: random.below(5) }, () => randomFrame(random));
  const time = (): bigint => random.bits(60) % LATEST;
  const writer = random.chance(0.5)
    ? new PcapWriter({ linkType: frames[0]?.linkType ?? 1, nanoseconds: random.chance(0.5), littleEndian })
    : new PcapngWriter({ interfaces: frames.map(({ linkType }) => ({ linkType })), littleEndian });
  const records = frames.map(({ bytes, wireLength }, n) => ({
    bytes,
    wireLength: Math.max(wireLength, bytes.length),
    time: time(),
    interfaceId: writer instanceof PcapWriter ? 0 : n,
  }));
  return concat(writer.header(), ...records.map((record) => writer.frame(record)));
}

/** Reads a file at once and in chunks. @returns its frames */
function compare(file: Uint8Array, random: Random): CapturedFrame[] {
  const sizes = file.length < SMALL ? [1, 3, 16, 100, 1000] : [16, 333, 4096];
  const [whole, parts] = [outcomeOf(file, Math.max(file.length, 1)), outcomeOf(file, random.pick(sizes))];
  expect(textOf(parts)).toBe(textOf(whole));
  if (typeof whole === "string") return [];
  const bytes = whole.frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
  expect(bytes).toBeLessThanOrEqual(file.length);
  return whole.frames;
}

/** The frames and the end, or why it is refused. */
function outcomeOf(file: Uint8Array, size: number): ReturnType<typeof decodeAll> | string {
  try {
    return decodeAll(file, size);
  } catch (error) {
    if (error instanceof SteeringError) return error.message;
    throw error;
  }
}

/** The same for what is the same; quicker than to compare objects. */
function textOf(outcome: ReturnType<typeof decodeAll> | string): string {
  if (typeof outcome === "string") return outcome;
  const lines = outcome.frames.map(
    ({ number, time, linkType, wireLength, interfaceId, bytes }) =>
      `${number} ${time} ${linkType} ${wireLength} ${interfaceId} ${Buffer.from(bytes).toString("base64")}`,
  );
  return [...lines, JSON.stringify(outcome.end)].join("\n");
}

function print(device: Device, frame: CapturedFrame): void {
  const { bytes, linkType, wireLength } = frame;
  if (!hasParser(linkType) || bytes.length === 0 || bytes.length > MAX_FRAME) return;
  const [parsed] = device.parseBatch([bytes], { linkType, wireLength: Math.max(wireLength, bytes.length) });
  expect(printParsed(bytes, parsed!, { detail: true, hex: true })).not.toBe("");
}
