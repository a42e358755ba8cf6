/** Steers the frames again to write them down: as rows, and as a test. */
import type { CoreSource, Outcome } from "flowsteer";
import { CSV, NDJSON, TextRows } from "flowsteer/run";
import { cannotRun, loadScenario, outcomeNames, type FrameInput } from "flowsteer/scenario";
import type { Progress } from "../../engine/api.js";
import { CaptureFrames } from "../../engine/frames/captureFrames.js";
import { Pace } from "../../engine/work/lane.js";
import { testText, type Expected, type TestFrames } from "./texts.js";

/** Rules and frames: those of the capture, or without one those of the document. */
export interface Source {
  readonly rules: string;
  readonly name: string;
  readonly capture: { readonly file: Blob; readonly name: string } | null;
}

interface Steered {
  readonly number: number;
  readonly input: FrameInput;
  readonly outcome: Outcome;
}

/** Frames that are steered at a time. */
const PIECE = 256;
/** Bytes of frames that go into a test. */
const MAX_BYTES = 500_000;
/** Frames that go into a test. */
const MAX_FRAMES = 2000;
/** Work here is stopped by ending its worker. */
const pace = new Pace(() => true);

/** A row for each frame, as `flowsteer run --format` writes them. */
export async function rowsFile(
  source: Source,
  format: "csv" | "ndjson",
  core: CoreSource,
  progress: Progress,
): Promise<Blob> {
  const pieces: BlobPart[] = [];
  const rows = new TextRows(format === "csv" ? CSV : NDJSON, {
    writeBytes: (text) => Promise.resolve(void pieces.push(text as BlobPart)),
    end: () => Promise.resolve(),
  });
  for await (const some of steered(source, core, progress)) {
    for (const { number, input, outcome } of some) {
      const { bytes, time = null, wireLength = bytes.length, linkType = 1, port = 1, send } = input;
      const arrived = {
        number,
        time,
        port: send === undefined ? port : null,
        length: bytes.length,
        wireLength,
        linkType,
      };
      rows.add(arrived, outcome.tag, rows.endOf(outcome));
    }
    await rows.flush();
  }
  await rows.end();
  return new Blob(pieces, { type: format === "csv" ? "text/csv" : "application/x-ndjson" });
}

/**
 * A test that expects what happened to the frames.
 * @param frame the only frame that it is about; null for all frames
 * @throws Error the frames are too many, or the frame cannot be steered
 */
export async function testFile(
  source: Source,
  frame: number | null,
  core: CoreSource,
  progress: Progress,
): Promise<string> {
  const all: Steered[] = [];
  let bytes = 0;
  for await (const some of steered(source, core, progress)) {
    for (const one of some) {
      if (frame !== null && one.number > frame) break;
      all.push(one);
      bytes += one.input.bytes.length;
    }
    if (frame !== null && (all.at(-1)?.number ?? 0) >= frame) break;
    if (frame === null) checkSize(all.length, source.capture === null ? 0 : bytes);
  }
  if (frame === null) {
    const frames: TestFrames =
      source.capture === null ? { kind: "document" } : { kind: "bytes", frames: all.map(withNumber) };
    return testText(source.rules, source.name, `${source.name}: all frames`, frames, all.map(expectedOf), false);
  }
  const last = all.at(-1);
  if (last?.number !== frame) throw new Error(`Frame ${frame} cannot be steered.`);
  const alone = await isSameAlone(source, last, core);
  const needed = alone ? [last] : all;
  if (!alone) checkSize(needed.length, source.capture === null ? 0 : bytes);
  const frames: TestFrames =
    source.capture === null
      ? { kind: "some", first: needed[0]?.number ?? frame, last: frame }
      : { kind: "bytes", frames: needed.map(withNumber) };
  return testText(source.rules, source.name, `${source.name}: frame ${frame}`, frames, [expectedOf(last)], !alone);
}

/** Whether a frame fares the same without the frames before it: rules with state remember those. */
async function isSameAlone({ rules }: Source, { input, outcome }: Steered, core: CoreSource): Promise<boolean> {
  const loaded = await loadScenario(rules, { core });
  const [own] = loaded.run([input]);
  return own !== undefined && JSON.stringify(outcomeNames(own)) === JSON.stringify(outcomeNames(outcome));
}

function checkSize(frames: number, bytes: number): void {
  if (frames <= MAX_FRAMES && bytes <= MAX_BYTES) return;
  throw new Error(
    `A test holds ${MAX_FRAMES.toLocaleString("en")} frames and ${MAX_BYTES / 1000} kB at most: select a frame.`,
  );
}

/** All frames that can be steered, in order. */
async function* steered(source: Source, core: CoreSource, progress: Progress): AsyncGenerator<Steered[], void> {
  const loaded = await loadScenario(source.rules, { core });
  const { capture } = source;
  if (capture === null) {
    const { frames } = loaded;
    for (let first = 0; first < frames.length; first += PIECE) {
      const inputs = frames.slice(first, first + PIECE);
      const outcomes = loaded.run(inputs);
      progress(first, frames.length, "Steering frames");
      yield inputs.map((input, i) => ({ number: first + i + 1, input, outcome: outcomes[i] as Outcome }));
    }
    return;
  }
  const frames = await CaptureFrames.read(capture.file, capture.name, pace, progress);
  for (let first = 1; first <= frames.count; first += PIECE) {
    const length = Math.min(PIECE, frames.count - first + 1);
    const numbers = Array.from({ length }, (_, i) => first + i);
    const bytes = await frames.bytes(numbers);
    const inputs = numbers.flatMap((number, i): FrameInput[] => {
      const { time, linkType, wireLength } = frames.head(number);
      const own = bytes[i] ?? new Uint8Array();
      return cannotRun(linkType, own.length) === null ? [{ bytes: own, time, linkType, wireLength, number }] : [];
    });
    const outcomes = loaded.run(inputs);
    progress(first, frames.count, "Steering frames");
    yield inputs.map((input, i) => ({ number: input.number ?? 0, input, outcome: outcomes[i] as Outcome }));
  }
}

function withNumber({ input, number }: Steered): FrameInput {
  return { ...input, number };
}

function expectedOf({ outcome }: Steered): Expected {
  const { verdict, reason, to, copies, rules } = outcomeNames(outcome);
  return { verdict, reason, to, copies, rules };
}
