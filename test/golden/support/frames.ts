// The captures of the golden files. Those in test/captures and test/golden/made are always present;
// captures that may not be distributed with this project are read from the directory in
// FLOWSTEER_CAPTURES, if it is set.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCapture } from "../../../src/packet/capture/read.js";
import type { GoldenFile } from "./rulings.js";

const KEYS = fileURLToPath(new URL("../keys/", import.meta.url));
const DIRECTORIES = [
  fileURLToPath(new URL("../../captures/", import.meta.url)),
  fileURLToPath(new URL("../made/", import.meta.url)),
  ...[process.env["FLOWSTEER_CAPTURES"] ?? []].flat(),
];

export interface CapturedFrame {
  bytes: Uint8Array;
  linkType: number;
  wireLength: number;
}

/** All golden files; `path` is undefined if the capture is missing. */
export function goldenFiles(): { golden: GoldenFile; path: string | undefined }[] {
  return readdirSync(KEYS)
    .sort()
    .map((file) => {
      const golden = JSON.parse(readFileSync(join(KEYS, file), "utf8")) as GoldenFile;
      return { golden, path: DIRECTORIES.map((one) => join(one, golden.capture)).find((path) => existsSync(path)) };
    });
}

export async function framesOf(path: string): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = [];
  for await (const batch of readCapture(readFileSync(path))) {
    // The bytes of a batch are views that the next batch may overwrite.
    frames.push(...batch.map((frame) => ({ ...frame, bytes: frame.bytes.slice() })));
  }
  return frames;
}
