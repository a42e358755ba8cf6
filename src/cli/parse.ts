/** flowsteer parse: the fields of every frame of a capture. */
import { cannotRun } from "../formats/index.js";
import { createDevice, type ParsedFrame } from "../index.js";
import { readCaptures, type NumberedFrame } from "./captures.js";
import { numberOption, readCommandLine } from "./commandLine.js";
import { Output } from "./output.js";
import { badUsage } from "./refusal.js";
import { notesText } from "./report.js";
import { counted, painter, type Paint } from "./text.js";

const OPTIONS = { json: "flag", limit: "value" } as const;
const WIDTH = 100;

export async function parse(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "parse", OPTIONS);
  if (line.operands.length === 0) throw badUsage("parse", "name a capture: flowsteer parse CAPTURE...");
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER) ?? Infinity;
  const json = line.flags.has("json");
  const device = await createDevice();
  const output = new Output();
  const paint = painter(process.stdout);
  const notes: string[] = [];
  const skipped = new Map<string, number>();
  for await (const frames of readCaptures({ files: line.operands, limit }, notes)) {
    const taken = frames.filter(({ linkType, bytes }) => {
      const why = cannotRun(linkType, bytes.length);
      if (why !== null) skipped.set(why, (skipped.get(why) ?? 0) + 1);
      return why === null;
    });
    const parsed = device.parseBatch(
      taken.map(({ bytes }) => bytes),
      taken.map(({ linkType, wireLength }) => ({ linkType, wireLength })),
    );
    for (const [i, frame] of taken.entries()) {
      const one = parsed[i] as ParsedFrame;
      const { number, wireLength } = frame;
      await output.write(
        json
          ? `${JSON.stringify({ frame: number, len: wireLength, fields: one.fields, stopped: one.stopped })}\n`
          : frameText(paint, frame, one),
      );
    }
  }
  await output.flush();
  for (const [why, count] of skipped) notes.push(`not parsed: ${why}: ${count} skipped`);
  process.stderr.write(notesText(painter(process.stderr), notes));
  return 0;
}

/** A heading, then the fields of each group, one group a paragraph. */
function frameText(paint: Paint, frame: NumberedFrame, { fields, stopped }: ParsedFrame): string {
  const { number, wireLength, bytes, time } = frame;
  const cut = bytes.length < wireLength ? ` (${bytes.length} captured)` : "";
  const lines = [`${paint("bold", `frame ${number}`)}  ${timeText(time)}  ${counted(wireLength, "byte")}${cut}`];
  const groups = new Map<string, string[]>();
  for (const [name, value] of Object.entries(fields)) {
    const [group = "", bare = ""] = name.split(/\.(.*)/s);
    const shown = bare === "ethertype" ? `0x${Number(value).toString(16).padStart(4, "0")}` : String(value);
    const words = groups.get(group) ?? [];
    words.push(`${bare} ${shown}`);
    groups.set(group, words);
  }
  for (const [group, words] of groups) lines.push(...wrapped(group, words));
  if (stopped !== null) {
    const { header, field, offset, wanted, had, reason } = stopped;
    // The bytes say why only where they were too few.
    const short = reason === "truncated" || reason === "beyond_packet" ? `: wanted ${wanted} bytes, had ${had}` : "";
    const why = `${short} (${reason.replaceAll("_", " ")})`;
    lines.push(paint("yellow", `  stopped  in ${header} at byte ${offset}, field ${field}${why}`));
  }
  return `${lines.join("\n")}\n\n`;
}

function wrapped(group: string, words: readonly string[]): string[] {
  const margin = " ".repeat(9);
  const lines: string[] = [];
  let line = `  ${group.padEnd(7)}`;
  for (const word of words) {
    if (line.length + word.length + 2 > WIDTH) {
      lines.push(line.trimEnd());
      line = margin;
    }
    line += word.concat("  ");
  }
  return [...lines, line.trimEnd()];
}

/** The first nanosecond whose year has five digits. */
const YEAR_10000 = 253_402_300_800n * 1_000_000_000n;

/** UTC, with as many digits as the capture may have; nanoseconds since the epoch where no calendar has the time. */
export function timeText(time: bigint): string {
  if (time < 0n || time >= YEAR_10000) return `${time} ns`;
  const date = new Date(Number(time / 1_000_000_000n) * 1000).toISOString().slice(0, 19).replace("T", " ");
  const fraction = (time % 1_000_000_000n).toString().padStart(9, "0");
  return `${date}.${fraction.endsWith("000") ? fraction.slice(0, 6) : fraction}`;
}
