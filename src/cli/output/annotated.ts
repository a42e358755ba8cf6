/** Writes the captures of a run with a comment at each frame, as one pcapng file. */
import { PcapngWriter, type Outcome } from "../../index.js";
import {
  CaptureAnnotator,
  encodeComment,
  type EncodedComment,
  type OutcomeClass,
  type SeeFrame,
  wireLengthOf,
} from "../../run/index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import type { EndedFrame } from "../../explain/index.js";
import { isLost } from "../input/lostFrames.js";
import { printable } from "../text.js";
import type { LossReasons } from "./lossReasons.js";
import type { CaptureRows } from "../input/captures.js";
import { commentText, skippedText } from "../report/comment.js";
import { inFile, type FrameToFile } from "./captureFiles.js";
import type { Output } from "./output.js";

/** Comments that are kept, and those of an outcome class, whose frames differ in their tags. */
const KEPT = 1024;

/** The comment of a row without its reason; the outcome is null for a frame that was not steered. */
interface RowComment {
  readonly text: string;
  readonly outcome: Outcome | null;
}

/** A frame of the scenario. */
type OwnFrame = FrameToFile & { readonly number: number; readonly port?: number | undefined; readonly send?: unknown };

type Reasons = ReadonlyMap<number, string>;

export class AnnotatedCapture {
  readonly isStandardOutput: boolean;
  readonly #path: string;
  #frames = 0;
  readonly #output: Output;
  readonly #loaded: LoadedScenario;
  readonly #annotator = new CaptureAnnotator();
  readonly #reasons: LossReasons | null;
  readonly #byClass = new WeakMap<OutcomeClass, Map<number | null, string>>();
  /** Comments by their texts: most frames share one. */
  readonly #encoded = new Map<string, EncodedComment>();
  /** By row of the current columns. */
  #rows: RowComment[] = [];
  #file: number | null = null;
  /** The link types of frames that come from no capture. */
  readonly #linkTypes: number[] = [];
  #writer: PcapngWriter | null = null;

  /**
   * @param path `-` for standard output
   * @param reasons explains lost frames; null for no explanations
   */
  constructor(path: string, output: Output, loaded: LoadedScenario, reasons: LossReasons | null) {
    this.isStandardOutput = path === "-";
    this.#path = path;
    this.#output = output;
    this.#loaded = loaded;
    this.#reasons = reasons;
  }

  /** Comments a row by its outcome class. */
  readonly see: SeeFrame = (row, _number, _wireLength, tag, outcomeClass) => {
    const { firstBytes, outcome } = outcomeClass;
    let byTag = this.#byClass.get(outcomeClass);
    if (byTag === undefined) this.#byClass.set(outcomeClass, (byTag = new Map<number | null, string>()));
    let text = byTag.get(tag);
    if (text === undefined) {
      text = commentText(this.#loaded, firstBytes, outcome, tag);
      if (byTag.size === KEPT) byTag.clear();
      byTag.set(tag, text);
    }
    this.#rows[row] = { text, outcome };
  };

  /** Comments a row by its outcome. */
  seeOutcome(row: number, bytes: Uint8Array, outcome: Outcome): void {
    this.#rows[row] = { text: commentText(this.#loaded, bytes, outcome), outcome };
  }

  /** Comments a row that was not steered. */
  skip(row: number, why: string): void {
    this.#rows[row] = { text: skippedText(why), outcome: null };
  }

  /** Writes the frames of a capture, whose rows all have comments. */
  async write(rows: CaptureRows, port: number): Promise<void> {
    if (this.#file !== rows.file) this.#annotator.begin();
    this.#file = rows.file;
    const seen = this.#rows;
    this.#rows = [];
    this.#frames += seen.length;
    const reasons = await this.#reasonsOf(rows, port, seen);
    const comments = seen.map(({ text }, row) => this.#encode(withReason(text, reasons?.get(rows.number + row))));
    const bytes = this.#annotator.add(rows, comments);
    if (bytes.length > 0) await this.#output.writeBytes(bytes);
  }

  async #reasonsOf(
    { columns, number }: CaptureRows,
    port: number,
    seen: readonly RowComment[],
  ): Promise<Reasons | undefined> {
    const lost: EndedFrame[] = [];
    for (const [row, { outcome }] of seen.entries()) {
      if (outcome === null || !isLost(outcome)) continue;
      const linkType = columns.linkTypes[row] ?? 0;
      const wireLength = wireLengthOf(columns, row);
      lost.push({ number: number + row, bytes: columns.frame(row), linkType, wireLength, outcome });
    }
    return this.#reasons?.of(lost, port);
  }

  #encode(text: string): EncodedComment {
    let encoded = this.#encoded.get(text);
    if (encoded === undefined) {
      encoded = encodeComment(text);
      if (this.#encoded.size === KEPT) this.#encoded.clear();
      this.#encoded.set(text, encoded);
    }
    return encoded;
  }

  /** Writes a frame that comes from no capture. */
  async writeFrame(
    { number, time, linkType, bytes, wireLength, port = 1, send }: OwnFrame,
    outcome: Outcome,
  ): Promise<void> {
    let interfaceId = this.#linkTypes.indexOf(linkType);
    if (this.#writer === null || interfaceId < 0) {
      // Interfaces come before frames in a section, so a new link type starts a new section.
      interfaceId = this.#linkTypes.push(linkType) - 1;
      this.#writer = newSection(this.#linkTypes);
      await this.#output.writeBytes(this.#writer.header());
    }
    const lost = send === undefined ? [{ number, bytes, linkType, wireLength, outcome }] : [];
    const reasons = await this.#reasons?.of(lost, port);
    const comments = [withReason(commentText(this.#loaded, bytes, outcome), reasons?.get(number))];
    const frame = { time: time === null ? null : inFile(time), bytes, wireLength, interfaceId, comments };
    await this.#output.writeBytes(this.#writer.frame(frame));
    this.#frames++;
  }

  /** Closes the file, which is a capture without frames where there were none. Gives its path and its frames. */
  async end(): Promise<{ path: string; frames: number }> {
    if (this.#file === null && this.#writer === null) await this.#output.writeBytes(newSection([]).header());
    await this.#output.end();
    return { path: this.#path, frames: this.#frames };
  }
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}; ${printable(reason)}`;
}

function newSection(linkTypes: readonly number[]): PcapngWriter {
  return new PcapngWriter({ interfaces: linkTypes.map((linkType) => ({ linkType, nanoseconds: true })) });
}
