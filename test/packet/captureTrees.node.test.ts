/**
 * Frames of the captures as trees, then built again. FLOWSTEER_CAPTURES=dir adds your own captures.
 */
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createDevice } from "../../src/index.js";
import { hasParser } from "../../src/model/traffic/links.js";
import { readCapture } from "../../src/packet/capture/read.js";
import { buildFrame, layersOf, printFrame } from "../../src/packet/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { draw } from "./support/frames.js";

const folders = [fileURLToPath(new URL("../captures", import.meta.url)), process.env["FLOWSTEER_CAPTURES"] ?? ""];
const files = folders
  .filter((folder) => folder !== "")
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((name) => /\.(pcap|pcapng|cap)$/.test(name));

const device = await createDevice();

/** Number of frames of a capture that are checked. */
const MAX = 2000;

test.each(files)("%s", async (file) => {
  let left = MAX;
  for await (const captured of readCapture(createReadStream(file))) {
    const frames = captured.slice(0, left).filter(({ linkType }) => hasParser(linkType));
    left -= frames.length;
    const usable = frames.map(({ bytes, linkType, wireLength }) => ({
      bytes,
      linkType,
      wireLength: Math.max(wireLength, bytes.length),
    }));
    const bytes = usable.map((frame) => frame.bytes);
    const options = usable.map(({ linkType, wireLength }) => ({ linkType, wireLength }));
    const parsed = device
      .parseBatch(bytes, options)
      .map(({ headers, payload, stopped }) => ({ headers, payload, stopped }));
    expect(device.parseHeaders(bytes, options)).toEqual(parsed);
    for (const { bytes, tree } of await draw(usable)) {
      expect(tree.nodes.reduce((sum, { length }) => sum + length, 0)).toBe(bytes.length);
      expect(hexOf(buildFrame(layersOf(tree)))).toBe(hexOf(bytes));
      printFrame(tree, { detail: true, hex: true });
    }
  }
});
