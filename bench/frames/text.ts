/** Captures as text: `flowsteer parse` beside tshark, which prints a line a frame. CPU time of both. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEqual, type TimedCase, type Workload } from "../harness.js";
import { writeCapture } from "./bigCapture.js";
import { TEXT_GOAL } from "./goals.js";
import { cpuSecondsOf, root, runProcess, runWell } from "./processes.js";

const COMMAND = join(root, "dist/cli.js");
const EVERYDAY = join(root, "examples/everyday.pcap");
const ROUNDS = 5;
/** Frames of the captures, at least. */
const FRAMES = 90_000;
const QUICK_FRAMES = 1000;
/** Bytes of a frame of `writeCapture` with its record header, rounded up. */
const BYTES = 430;

/** Bytes of the file header and of a record header, and where it has its captured length. */
const [HEADER, RECORD, CAPTURED] = [24, 16, 8];

/** The reason why texts are not measured here; undefined if they are. */
export async function withoutText(): Promise<string | undefined> {
  if (!existsSync(COMMAND)) return "the package is not built: npm run build:quick";
  try {
    await runProcess("tshark", ["--version"]);
    return undefined;
  } catch {
    return "tshark is not installed";
  }
}

/** Two captures: TCP and UDP of some thousand flows, and headers of many kinds. */
export async function* texts(quick: boolean): AsyncGenerator<Workload> {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-text-"));
  try {
    const frames = quick ? QUICK_FRAMES : FRAMES;
    const flows = join(folder, "flows.pcap");
    writeCapture(flows, frames * BYTES);
    yield await workload("flows", flows);
    const everyday = join(folder, "everyday.pcap");
    repeat(EVERYDAY, everyday, frames);
    yield await workload("many kinds of headers", everyday);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the records of a little-endian capture again and again, until there are this many. */
function repeat(from: string, to: string, frames: number): void {
  const file = readFileSync(from);
  const records = file.subarray(HEADER);
  let count = 0;
  for (let at = 0; at < records.length; at += RECORD + records.readUInt32LE(at + CAPTURED)) count++;
  const times = Math.ceil(frames / count);
  writeFileSync(to, Buffer.concat([file.subarray(0, HEADER), ...Array<Uint8Array>(times).fill(records)]));
}

async function workload(kind: string, file: string): Promise<Workload> {
  const parse = [COMMAND, "parse", file];
  const peer = "tshark -r in -n";
  const { out } = await runWell(process.execPath, parse);
  const frames = out.match(/^frame /gm)?.length ?? 0;
  const cases: TimedCase[] = [
    {
      name: "flowsteer parse",
      seconds: () => cpuSecondsOf(process.execPath, parse),
      targets: { [peer]: { goal: TEXT_GOAL } },
    },
    { name: peer, peer: true, seconds: () => cpuSecondsOf("tshark", ["-r", file, "-n"]) },
  ];
  const lines = (await runWell("tshark", ["-r", file, "-n"])).out.trimEnd().split("\n").length;
  return {
    name: `a capture of ${frames.toLocaleString("en")} frames as text, ${kind}, CPU time`,
    unit: "frame",
    units: frames,
    check: () => expectEqual("frames of the text", frames, lines),
    cases,
    rounds: ROUNDS,
  };
}
