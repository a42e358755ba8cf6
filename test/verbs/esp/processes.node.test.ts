/**
 * A tunnel between two processes: one encrypts the frames of its pipe, the other decrypts the
 * output of the first.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";
import { CaptureDecoder, PcapWriter } from "../../../src/index.js";
import { ROOT } from "../../support/root.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { numbersOf, SPI } from "../support/esp.js";

/** As deep below the root as the source, so that the core is found. */
const bundle = mkdtempSync(join(ROOT, "build", "esp-"));
afterAll(() => rmSync(bundle, { recursive: true, force: true }));
const peer = join(bundle, "peer.mjs");
await build({
  entryPoints: [join(ROOT, "test/verbs/support/espPeer.ts")],
  outfile: peer,
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "warning",
});

const start = (does: "seal" | "open"): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [peer, does], { cwd: ROOT });

interface Ended {
  code: number | null;
  frames: Uint8Array[];
  /** Its last output. */
  said: string;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [decoder, frames] = [new CaptureDecoder(), [] as Uint8Array[]];
  let said = "";
  child.stdout.on("data", (chunk: Uint8Array) => frames.push(...decoder.push(chunk).map(({ bytes }) => bytes.slice())));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, frames, said };
}

const bytesOf = (frames: readonly Uint8Array[]): number => frames.reduce((sum, { length }) => sum + length, 0);

test("frames come out of the second process as they went into the first, each once", async () => {
  const clear = Array.from({ length: 400 }, (_, n) => ipv4Frame({ length: 64 + ((37 * n) % 1300) }).fill(n, 54));
  const [sealer, opener] = [start("seal"), start("open")];
  const both = Promise.all([ended(sealer), ended(opener)]);
  // The second process receives the output of the first one twice.
  const twice = new CaptureDecoder();
  const writer = new PcapWriter({ linkType: 1 });
  opener.stdin.write(writer.header());
  sealer.stdout.on("data", (chunk: Uint8Array) => {
    for (const { bytes } of twice.push(chunk)) {
      for (let n = 0; n < 2; n++) opener.stdin.write(writer.frame({ time: 0n, bytes }));
    }
  });
  sealer.stdout.once("end", () => opener.stdin.end());
  sealer.stdin.write(writer.header());
  for (const bytes of clear) sealer.stdin.write(writer.frame({ time: 0n, bytes }));
  sealer.stdin.end();

  const [sealed, opened] = await both;
  const first = (6n << 32n) + 2n ** 32n - 100n;
  expect(sealed).toMatchObject({ code: 0, said: `400 ${bytesOf(clear)} 400 ${first + 400n} 0` });
  const seqs = sealed.frames.map((frame) => numbersOf(frame));
  expect(seqs).toEqual(
    clear.map((_, n) => ({ spi: SPI, seq: Number((first + BigInt(n)) % 2n ** 32n), iv: BigInt(n) })),
  );
  const received = 2 * bytesOf(sealed.frames);
  expect(opened).toMatchObject({ code: 0, said: `800 ${received} 400 ${first + 399n} 400` });
  expect(opened.frames.length).toBe(clear.length);
  for (const [n, frame] of clear.entries()) expect([n, opened.frames[n]]).toEqual([n, frame]);
});
