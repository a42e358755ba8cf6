/**
 * The frame that `trace` and `why` are about, and the device as it is when the frame comes: the
 * frames before it have been run.
 */
import { cannotRun, type FrameInput, type LoadedQueue, type LoadedScenario } from "../../scenario/index.js";
import { buildFrame, parsePacket } from "../../packet/index.js";
import { numberOption, type CommandLine } from "../commandLine.js";
import { badUsage, CommandRefusal, withFile } from "../refusal.js";
import { readWitness } from "../source.js";
import { counted } from "../text.js";
import { type CaptureLog, framesOf, noFrame, readColumns, type NumberedFrame } from "./captures.js";
import { openFiles } from "./chunks.js";
import { hexOption } from "./hex.js";
import { LostFrames } from "./lostFrames.js";
import type { Rules } from "./rules/rules.js";

/** Options that say which frame. */
export const FRAME_OPTIONS = {
  frame: "value",
  hex: "value",
  packet: "value",
  port: "value",
  from: "value",
  metadata: "value",
} as const;

/** A queue that can send. */
export type SendingQueue = Extract<LoadedQueue["queue"], { readonly qp_num: number }>;

export interface ChosenFrame {
  /** Its number in the captures or in the scenario; null for a frame of the command line. */
  readonly number: number | null;
  readonly bytes: Uint8Array;
  readonly linkType: number;
  readonly wireLength: number;
  /** By the clock of the device; null for the clock as it is. */
  readonly time: bigint | null;
  /** Where it comes in: a queue that sends it, or a port. */
  readonly queue: SendingQueue | null;
  readonly port: number;
  readonly metadata: number;
}

/** Called with the number of each frame before the chosen one that was steered. */
export type Steered = (number: number) => void;

/**
 * Finds the frame, and steers the frames before it.
 * @param command the name of the command, for refusals
 */
export async function chooseFrame(
  command: string,
  given: CommandLine,
  captures: readonly string[],
  { name }: Rules,
  loaded: LoadedScenario,
  log: CaptureLog,
  steered?: Steered,
): Promise<ChosenFrame> {
  const line = withSource(given);
  const { values } = line;
  const sources = [
    ...captures.slice(0, 1),
    ...["hex", "packet"].filter((one) => values.has(one)).map((one) => `--${one}`),
  ];
  if (sources.length > 1) throw badUsage(null, `only one of these can be given: ${sources.join(", ")}`);
  if (values.has("port") && values.has("from")) throw badUsage(null, "--port and --from cannot be used together");
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device");
  const number = numberOption(line, "frame", 1, Number.MAX_SAFE_INTEGER);
  const queue = values.has("from") ? queueNamed(loaded, values.get("from") as string) : null;
  const metadata = metadataOption(line);
  const come = { queue, port: port ?? 1, metadata: metadata ?? 0 };
  if (captures.length > 0) {
    const reading = { captures, only: number, port: port ?? 1, log, quiet: line.flags.has("quiet") };
    const frame = await captured(command, loaded, reading, steered);
    return { ...come, ...frame };
  }
  const hex = values.get("hex");
  const packet = values.get("packet");
  if (hex === undefined && packet === undefined) {
    const frame = scenarioFrame(command, name, loaded, number, { port, queue }, steered);
    return metadata === undefined ? frame : { ...frame, metadata };
  }
  if (number !== undefined)
    throw badUsage(null, `--frame and --${hex === undefined ? "packet" : "hex"} cannot be used together`);
  const written = hex === undefined ? await packetFrame(packet ?? "") : hexOption(hex);
  refuseUnparsed(hex === undefined ? "--packet" : "--hex", written.linkType, written.bytes.length);
  return { ...come, ...written, number: null, wireLength: written.bytes.length, time: null };
}

/** The source that follows a packet, as options that the command line does not give itself. */
function withSource(line: CommandLine): CommandLine {
  const text = line.values.get("packet");
  if (text === undefined) return line;
  const { packet, source, after } = readWitness(text);
  if (after !== null) {
    const hint = "flowsteer cover RULES --out FOLDER writes all of them; then use --frame N with FOLDER/cover.json";
    throw badUsage("--packet", `${after} must be steered before it; ${hint}`);
  }
  return { ...line, values: new Map([...Object.entries(source), ...line.values, ["packet", packet]]) };
}

/** Register A of the frame; undefined where the command line does not say. */
function metadataOption({ values }: CommandLine): number | undefined {
  const text = values.get("metadata");
  if (text === undefined) return undefined;
  const number = /^(?:0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : Number.NaN;
  if (!(number <= 0xffff_ffff)) throw badUsage(`--metadata ${text}`, "expected a number of 32 bits, such as 7 or 0x7");
  if (!values.has("from")) throw badUsage("--metadata", "only a frame that a queue sends has it; add --from QUEUE");
  return number;
}

async function packetFrame(text: string): Promise<{ bytes: Uint8Array; linkType: number }> {
  return withFile("--packet", () => {
    const { layers, linkType } = parsePacket(text);
    return { bytes: buildFrame(layers), linkType };
  });
}

function queueNamed({ queues }: LoadedScenario, name: string): SendingQueue {
  // Reports write qp: before the name.
  const found = (queues.get(name) ?? queues.get(name.replace(/^qp:/, "")))?.queue;
  if (found !== undefined && "qp_num" in found) return found;
  const names = [...queues].flatMap(([one, { queue }]) => ("qp_num" in queue ? [one] : []));
  const known = names.length === 0 ? "the scenario has no queue pairs" : `queue pairs: ${names.join(", ")}`;
  throw badUsage(`--from ${name}`, found === undefined ? known : `a work queue cannot send; ${known}`);
}

/** Frame `number` of the document. What the document does before it has been done. */
function scenarioFrame(
  command: string,
  file: string,
  loaded: LoadedScenario,
  number: number | undefined,
  { port, queue }: { readonly port: number | undefined; readonly queue: SendingQueue | null },
  steered: Steered | undefined,
): ChosenFrame {
  const { frames } = loaded;
  if (frames.length === 0) {
    const hint = `add a capture after the rules, or use --packet or --hex: flowsteer ${command} RULES CAPTURE --frame N`;
    throw new CommandRefusal(file, { code: "EINVAL", call: command, reason: "bad_usage", path: "no frames", hint });
  }
  const only = number ?? (frames.length === 1 ? 1 : undefined);
  if (only === undefined)
    throw badUsage(command, `select one of the ${counted(frames.length, "frame")} with --frame N`);
  if (only > frames.length) throw noFrame(only, frames.length);
  const before = frames.slice(0, only - 1);
  if (steered === undefined) loaded.run(before);
  else
    before.forEach((frame, i) => {
      loaded.run([frame]);
      steered(i + 1);
    });
  const frame = frames[only - 1] as FrameInput;
  loaded.prepare(frame);
  return ownFrame(loaded, frame, only, port, queue);
}

/**
 * A frame of the document.
 * @param port the port at which it arrives, and `queue` the queue that sends it, if the command line says so
 */
export function ownFrame(
  loaded: LoadedScenario,
  frame: FrameInput,
  number: number,
  port: number | undefined,
  queue: SendingQueue | null,
): ChosenFrame {
  const { bytes, linkType = 1, wireLength = bytes.length, time = null, send, metadata = 0 } = frame;
  const from = queue ?? (send === undefined || port !== undefined ? null : queueNamed(loaded, send));
  return { number, bytes, linkType, wireLength, time, queue: from, port: port ?? frame.port ?? 1, metadata };
}

type Captured = Pick<ChosenFrame, "number" | "bytes" | "linkType" | "wireLength" | "time">;

interface CaptureReading {
  readonly captures: readonly string[];
  readonly only: number | undefined;
  readonly port: number;
  readonly log: CaptureLog;
  readonly quiet: boolean;
}

/** Frame `only` of the captures. The frames before it have been steered. */
async function captured(
  command: string,
  loaded: LoadedScenario,
  { captures, only, port, log, quiet }: CaptureReading,
  steered: Steered | undefined,
): Promise<Captured> {
  if (only === undefined) throw badUsage(command, "select a frame of the capture with --frame N");
  const before = new LostFrames(loaded, port);
  let read = 0;
  for await (const rows of readColumns({ files: await openFiles(captures), limit: only, quiet }, log)) {
    read += rows.count;
    const end = Math.min(rows.count, only - rows.number);
    const step = steered === undefined ? end : 1;
    for (let row = 0; row < end; row += step) {
      before.run(rows, row, row + step);
      steered?.(rows.number + row);
    }
    if (read < only) continue;
    const { number, bytes, linkType, wireLength, time } = framesOf(
      rows,
      only - rows.number,
      rows.count,
    )[0] as NumberedFrame;
    refuseUnparsed(`--frame ${number}`, linkType, bytes.length);
    before.end();
    loaded.prepare({ bytes, time });
    return { number, bytes: bytes.slice(), linkType, wireLength, time };
  }
  throw noFrame(only, read);
}

function refuseUnparsed(place: string, linkType: number, length: number): void {
  const why = cannotRun(linkType, length);
  if (why !== null) throw badUsage(place, `cannot be steered: ${why}`);
}
