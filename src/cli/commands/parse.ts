/**
 * flowsteer parse: prints the headers of every frame of a capture, or the fields that rules can
 * match.
 */
import { cannotRun, loadScenario } from "../../scenario/index.js";
import { createDevice, type Device } from "../../index.js";
import {
  CaptureLog,
  checkInputOnce,
  framesOf,
  readColumns,
  type CaptureRows,
  type NumberedFrame,
} from "../input/captures.js";
import { inputName, openFiles, textOf } from "../input/chunks.js";
import { frameRange, readCommandLine } from "../commandLine.js";
import { frameLine, frameText, type FrameShape } from "../report/frameText.js";
import { Output } from "../output/output.js";
import { badUsage, EXIT, withFile } from "../refusal.js";
import { notesText } from "../report/report.js";
import { painter, type Paint } from "../text.js";
import { partialLine } from "./finish.js";

const FLAGS = { json: "flag", fields: "flag", detail: "flag", hex: "flag" } as const;
const OPTIONS = { ...FLAGS, limit: "value", frame: "value", scenario: "value" } as const;

/** @returns the exit code */
export async function parse(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "parse", OPTIONS);
  if (line.operands.length === 0) throw badUsage("parse", "name a capture: flowsteer parse CAPTURE...");
  const is = (flag: keyof typeof FLAGS | "quiet"): boolean => line.flags.has(flag);
  const scenario = line.values.get("scenario");
  checkInputOnce(scenario === undefined ? line.operands : [scenario, ...line.operands]);
  const range = frameRange(line);
  const files = await openFiles(line.operands);
  const device = await deviceOf(scenario);
  const shape: FrameShape = { fields: is("fields"), detail: is("detail"), hex: is("hex") };
  const printer = new Printer(device, painter(process.stdout), is("json") ? null : shape);
  const log = new CaptureLog();
  for await (const rows of readColumns({ files, ...range, quiet: is("quiet") }, log)) await printer.print(rows);
  if (is("json") && log.broken.length > 0) await printer.output.write(partialLine(null, log, printer.frames));
  await printer.output.flush();
  for (const [why, count] of printer.skipped) log.notes.push(`not parsed: ${why}: ${count} skipped`);
  if (!is("quiet")) process.stderr.write(notesText(painter(process.stderr), log.notes));
  return log.broken.length > 0 ? EXIT.cut : 0;
}

/** A default device, or that of a scenario with its parser options. */
async function deviceOf(scenario: string | undefined): Promise<Device> {
  if (scenario === undefined) return createDevice();
  const text = await textOf(scenario);
  const loaded = await withFile(inputName(scenario), () => loadScenario(text));
  return loaded.device;
}

/** Frames whose text is made at a time: few enough to die young. */
const PIECE = 128;

class Printer {
  readonly output = new Output();
  /** Frames without a parser, by cause. */
  readonly skipped = new Map<string, number>();
  frames = 0;
  readonly #device: Device;
  readonly #paint: Paint;
  /** Null for JSON. */
  readonly #shape: FrameShape | null;

  constructor(device: Device, paint: Paint, shape: FrameShape | null) {
    this.#device = device;
    this.#paint = paint;
    this.#shape = shape;
  }

  async print(rows: CaptureRows): Promise<void> {
    this.frames += rows.count;
    for (let first = 0; first < rows.count; first += PIECE) {
      const frames = framesOf(rows, first, Math.min(first + PIECE, rows.count)).filter((one) => this.#canParse(one));
      const bytes = frames.map((frame) => frame.bytes);
      await this.output.write(this.#text(frames, bytes));
    }
  }

  #text(frames: readonly NumberedFrame[], bytes: readonly Uint8Array[]): string {
    const [shape, paint] = [this.#shape, this.#paint];
    // Without the times: a capture can hold times that no device takes.
    const options = frames.map(({ linkType, wireLength }) => ({ linkType, wireLength }));
    let text = "";
    if (shape?.fields === false) {
      for (const [i, parsed] of this.#device.parseHeaders(bytes, options).entries())
        text += frameText(paint, shape, frames[i] as NumberedFrame, parsed, null);
      return text;
    }
    for (const [i, parsed] of this.#device.parseBatch(bytes, options).entries()) {
      const frame = frames[i] as NumberedFrame;
      text += shape === null ? frameLine(frame, parsed) : frameText(paint, shape, frame, parsed, parsed.fields);
    }
    return text;
  }

  #canParse({ linkType, bytes }: NumberedFrame): boolean {
    const why = cannotRun(linkType, bytes.length);
    if (why !== null) this.skipped.set(why, (this.skipped.get(why) ?? 0) + 1);
    return why === null;
  }
}
