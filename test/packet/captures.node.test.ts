/** Compares the captures in test/captures with the output of tshark. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CaptureDecoder, type CapturedFrame, type CaptureEnd, readCapture } from "../../src/packet/capture/read.js";
import { SteeringError } from "../../src/errors.js";
import { decodeAll, swapByteOrder } from "./support/captureHelpers.js";

interface GoldenFrame {
  time: string;
  linkType: number;
  interfaceId: number;
  capturedLength: number;
  wireLength: number;
  sha256: string;
}

const directory = new URL("../captures/", import.meta.url);
const golden = JSON.parse(readFileSync(new URL("../golden/captures.json", import.meta.url), "utf8")) as Record<
  string,
  GoldenFrame[]
>;
const names = Object.keys(golden);
const read = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, directory)));

/**
 * Each cut of a file decodes all bytes before the cut, so only small files are cut at every byte.
 */
const SMALL = 3000;

function asGolden(frames: readonly CapturedFrame[]): GoldenFrame[] {
  return frames.map(({ time, linkType, interfaceId, bytes, wireLength }) => ({
    // The golden file has 0 for a packet without a time.
    time: String(time ?? 0n),
    linkType,
    interfaceId,
    capturedLength: bytes.length,
    wireLength,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  }));
}

/** A frame as one string, for fast comparison. */
function keyOf({ number, time, linkType, interfaceId, wireLength, bytes }: CapturedFrame): string {
  return [number, time, linkType, interfaceId, wireLength, Buffer.from(bytes).toString("latin1")].join();
}

it("has golden frames for every capture", () => {
  const files = readdirSync(directory).filter((name) => /\.(pcap|pcapng|cap)$/.test(name));
  expect(names).toEqual(files.sort());
  expect(names.length).toBe(42);
});

describe.each(names)("%s", (name) => {
  const file = read(name);
  const isPcapng = file[0] === 0x0a;
  const { frames, end } = decodeAll(file);
  const keys = frames.map(keyOf);

  it("gives the frames that tshark gives", () => {
    expect(asGolden(frames)).toEqual(golden[name]);
    expect(frames.map((frame) => frame.number)).toEqual(frames.map((_, i) => i + 1));
    expect(end).toEqual({ format: isPcapng ? "pcapng" : "pcap", frames: frames.length, broken: null });
  });

  it.each([1, 7, 4096])("gives the same in chunks of %i bytes", (size) => {
    expect(decodeAll(file, size)).toEqual({ frames, end });
  });

  it("gives the same in the other byte order", () => {
    const swapped = swapByteOrder(file);
    expect(swapped).not.toEqual(file);
    expect(decodeAll(swapped)).toEqual({ frames, end });
    expect(decodeAll(swapped, 7)).toEqual({ frames, end });
    expect(swapByteOrder(swapped)).toEqual(file);
  });

  it("gives the same through readCapture", async () => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < file.length; at += 1000) yield file.subarray(at, at + 1000);
    }
    for (const source of [file, [file.subarray(0, 30), file.subarray(30)], chunks()]) {
      const batches = readCapture(source);
      const all: CapturedFrame[] = [];
      let next: IteratorResult<CapturedFrame[], CaptureEnd>;
      while (!(next = await batches.next()).done) all.push(...next.value);
      expect({ frames: all, end: next.value }).toEqual({ frames, end });
    }
  });

  it.runIf(file.length <= SMALL)("is read up to any cut", () => {
    const records = recordEnds(file);
    const headerEnd = records[0]!.end;
    expect(records.at(-1)).toEqual({ end: file.length, frames: frames.length });
    for (let cut = 0; cut < file.length; cut++) {
      const part = file.subarray(0, cut);
      if (cut < headerEnd) {
        expect(() => decodeAll(part), `cut at ${cut}`).toThrow(SteeringError);
        continue;
      }
      const whole = records.findLast((record) => record.end <= cut)!;
      const got = decodeAll(part);
      expect(got.end.frames, `cut at ${cut}`).toBe(whole.frames);
      expect(got.frames.map(keyOf)).toEqual(keys.slice(0, whole.frames));
      if (whole.end === cut) {
        expect(got.end.broken).toBeNull();
      } else {
        expect(got.end.broken).toMatchObject({ offset: whole.end, had: cut - whole.end });
        expect(got.end.broken!.wanted).toBeGreaterThan(cut - whole.end);
      }
    }
  });

  it.runIf(file.length <= SMALL)("loses no frame before a damaged byte", () => {
    const records = recordEnds(file);
    const headerEnd = records[0]!.end;
    const damaged = file.slice();
    for (let at = 0; at < file.length; at++) {
      damaged[at]! ^= 0xff;
      const before = records.findLast((record) => record.end <= at)?.frames ?? 0;
      try {
        const got = decodeAll(damaged);
        expect(got.end.frames).toBe(got.frames.length);
        expect(got.frames.slice(0, before).map(keyOf), `byte ${at}`).toEqual(keys.slice(0, before));
      } catch (error) {
        if (!(error instanceof SteeringError)) throw error;
        expect(at, error.message).toBeLessThan(headerEnd);
      }
      damaged[at]! ^= 0xff;
    }
  });
});

/** The end of each record of a valid file, and the number of frames up to it. */
function recordEnds(file: Uint8Array): { end: number; frames: number }[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const ends: { end: number; frames: number }[] = [];
  let frames = 0;
  if (file[0] === 0x0a) {
    let littleEndian = false;
    for (let at = 0; at < file.length; ends.push({ end: at, frames })) {
      const type = view.getUint32(at, littleEndian);
      if (type === 0x0a0d0d0a) littleEndian = file[at + 8] === 0x4d;
      if ([2, 3, 6].includes(type)) frames++;
      at += view.getUint32(at + 4, littleEndian);
    }
  } else {
    const littleEndian = file[0] !== 0xa1;
    ends.push({ end: 24, frames });
    for (let at = 24; at < file.length; ends.push({ end: at, frames: ++frames })) {
      at += 16 + view.getUint32(at + 8, littleEndian);
    }
  }
  return ends;
}

describe("interfaces", () => {
  it("start anew in each section", () => {
    const file = read("test202.pcapng");
    const decoder = new CaptureDecoder();
    const seen: string[] = [];
    for (let at = 0; at < file.length; at++) {
      decoder.push(file.subarray(at, at + 1));
      const now = decoder.interfaces
        .map(({ name, linkType, snapLength }) => `${name} ${linkType} ${snapLength}`)
        .join();
      if (seen.at(-1) !== now) seen.push(now);
    }
    expect(seen).toEqual([
      "",
      "eth0 1 96",
      "eth0 1 96,null1 0 0",
      "",
      "silly ethernet interface 2 1 128",
      "",
      "eth0 1 96",
      "eth0 1 96,null1 0 0",
    ]);
  });
});
