/** Dumps that tools have printed. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readCapture } from "../../src/packet/capture/read.js";
import { readHex } from "../../src/packet/index.js";

const FRAMES = 12;

test.each(["tshark", "hexdump", "xxd", "od", "od-x", "hexdump-words"])("%s", async (tool) => {
  const bytes: Uint8Array[] = [];
  for await (const frames of readCapture(readFileSync(new URL("../../examples/everyday.pcap", import.meta.url))))
    for (const frame of frames) if (bytes.length < FRAMES) bytes.push(frame.bytes.slice());
  const text = readFileSync(new URL(`../golden/hex/${tool}.txt`, import.meta.url), "utf8");
  const dumps = text.split(/\n\n/).filter((dump) => dump.trim() !== "");
  // hexdump ends with the length.
  const read = dumps.map((dump) => readHex(tool === "hexdump" ? dump.replace(/\n[\da-f]{8}\n*$/, "") : dump));
  expect(read).toEqual(bytes.map((one) => ({ bytes: one, linkType: 1 })));
  expect(dumps.map((dump) => readHex(dump))).toEqual(read);
});
