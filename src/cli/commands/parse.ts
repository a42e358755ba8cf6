/**
 * flowsteer parse: prints the headers of every frame of a capture, or the fields that rules can
 * match.
 */
import { readFile } from "node:fs/promises";
import { cannotRun, loadScenario } from "../../scenario/index.js";
import { createDevice, type Device, type ParsedFrame } from "../../index.js";
import { frameTree, printFrame } from "../../packet/index.js";
import { readCaptures, type NumberedFrame } from "../input/captures.js";
import { numberOption, readCommandLine } from "../commandLine.js";
import { fieldsText } from "../report/fieldsText.js";
import { Output } from "../output/output.js";
import { badUsage, withFile } from "../refusal.js";
import { notesText } from "../report/report.js";
import { counted, painter, type Paint } from "../text.js";

const FLAGS = { json: "flag", fields: "flag", detail: "flag", hex: "flag" } as const;
const OPTIONS = { ...FLAGS, limit: "value", scenario: "value" } as const;

/** The parts of a frame to print. */
type Shape = Record<keyof typeof FLAGS, boolean>;

export async function parse(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "parse", OPTIONS);
  if (line.operands.length === 0) throw badUsage("parse", "name a capture: flowsteer parse CAPTURE...");
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER) ?? Infinity;
  const is = (flag: keyof typeof FLAGS): boolean => line.flags.has(flag);
  const shape: Shape = { json: is("json"), fields: is("fields"), detail: is("detail"), hex: is("hex") };
  const device = await deviceOf(line.values.get("scenario"));
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
    for (const [i, frame] of taken.entries()) await output.write(textOf(paint, shape, frame, parsed[i] as ParsedFrame));
  }
  await output.flush();
  for (const [why, count] of skipped) notes.push(`not parsed: ${why}: ${count} skipped`);
  process.stderr.write(notesText(painter(process.stderr), notes));
  return 0;
}

/** A default device, or that of a scenario with its parser options. */
async function deviceOf(scenario: string | undefined): Promise<Device> {
  if (scenario === undefined) return createDevice();
  const loaded = await withFile(scenario, async () => loadScenario(await readFile(scenario, "utf8")));
  return loaded.device;
}

/** Prints headers unless --fields asks for fields only; JSON has fields only. */
function textOf(paint: Paint, shape: Shape, frame: NumberedFrame, parsed: ParsedFrame): string {
  const { fields, stopped } = parsed;
  if (shape.json) return `${JSON.stringify({ frame: frame.number, len: frame.wireLength, fields, stopped })}\n`;
  const { detail, hex } = shape;
  const tree = !shape.fields || detail || hex;
  return [
    headText(paint, frame),
    ...(tree ? [printFrame(frameTree(frame.bytes, parsed), { detail, hex, paint })] : []),
    ...(shape.fields ? [fieldsText(fields)] : []),
    stopText(paint, stopped),
    "\n",
  ].join("");
}

function headText(paint: Paint, { number, wireLength, bytes, time }: NumberedFrame): string {
  const cut = bytes.length < wireLength ? ` (${bytes.length} captured)` : "";
  return `${paint("bold", `frame ${number}`)}  ${timeText(time)}  ${counted(wireLength, "byte")}${cut}\n`;
}

function stopText(paint: Paint, stopped: ParsedFrame["stopped"]): string {
  if (stopped === null) return "";
  const { header, field, offset, wanted, had, reason } = stopped;
  // A frame explains its end only where bytes were missing.
  const short = reason === "truncated" || reason === "beyond_packet" ? `: wanted ${wanted} bytes, had ${had}` : "";
  const why = `${short} (${reason.replaceAll("_", " ")})`;
  return `${paint("yellow", `  stopped  in ${header} at byte ${offset}, field ${field}${why}`)}\n`;
}

/** The first nanosecond whose year has five digits. */
const YEAR_10000 = 253_402_300_800n * 1_000_000_000n;

/**
 * UTC, with as many digits as the capture has; nanoseconds since the epoch for years beyond the
 * calendar.
 */
export function timeText(time: bigint): string {
  if (time < 0n || time >= YEAR_10000) return `${time} ns`;
  const date = new Date(Number(time / 1_000_000_000n) * 1000).toISOString().slice(0, 19).replace("T", " ");
  const fraction = (time % 1_000_000_000n).toString().padStart(9, "0");
  return `${date}.${fraction.endsWith("000") ? fraction.slice(0, 6) : fraction}`;
}
