/** Writes the captures of a run with a comment at each frame, as one pcapng file. */
import { PcapngWriter, type Outcome } from "../../index.js";
import {
  CaptureAnnotator,
  encodeComment,
  type EncodedComment,
  type OutcomeClass,
  type SeeFrame,
} from "../../run/index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import type { CaptureRows } from "../input/captures.js";
import { commentText, skippedText } from "../report/comment.js";
import { inFile, type FrameToFile } from "./captureFiles.js";
import type { Output } from "./output.js";

/** Comments that are kept of an outcome class, whose frames differ in their tags. */
const KEPT = 1024;

export class AnnotatedCapture {
  readonly isStandardOutput: boolean;
  readonly #path: string;
  #frames = 0;
  readonly #output: Output;
  readonly #loaded: LoadedScenario;
  readonly #annotator = new CaptureAnnotator();
  readonly #byClass = new WeakMap<OutcomeClass, Map<number | null, EncodedComment>>();
  /** By row of the current columns. */
  #comments: EncodedComment[] = [];
  #file: number | null = null;
  /** The link types of frames that come from no capture. */
  readonly #linkTypes: number[] = [];
  #writer: PcapngWriter | null = null;

  /** @param path `-` for standard output */
  constructor(path: string, output: Output, loaded: LoadedScenario) {
    this.isStandardOutput = path === "-";
    this.#path = path;
    this.#output = output;
    this.#loaded = loaded;
  }

  /** Comments a row by its outcome class. */
  readonly see: SeeFrame = (row, _number, _wireLength, tag, outcomeClass) => {
    let byTag = this.#byClass.get(outcomeClass);
    if (byTag === undefined) this.#byClass.set(outcomeClass, (byTag = new Map<number | null, EncodedComment>()));
    let comment = byTag.get(tag);
    if (comment === undefined) {
      const { firstBytes, outcome } = outcomeClass;
      comment = encodeComment(commentText(this.#loaded, firstBytes, outcome, tag));
      if (byTag.size === KEPT) byTag.clear();
      byTag.set(tag, comment);
    }
    this.#comments[row] = comment;
  };

  /** Comments a row by its outcome. */
  seeOutcome(row: number, bytes: Uint8Array, outcome: Outcome): void {
    this.#comments[row] = encodeComment(commentText(this.#loaded, bytes, outcome));
  }

  /** Comments a row that was not steered. */
  skip(row: number, why: string): void {
    this.#comments[row] = encodeComment(skippedText(why));
  }

  /** Writes the frames of a capture, whose rows all have comments. */
  async write(rows: CaptureRows): Promise<void> {
    if (this.#file !== rows.file) this.#annotator.begin();
    this.#file = rows.file;
    const comments = this.#comments;
    this.#comments = [];
    this.#frames += comments.length;
    const bytes = this.#annotator.add(rows, comments);
    if (bytes.length > 0) await this.#output.writeBytes(bytes);
  }

  /** Writes a frame that comes from no capture. */
  async writeFrame({ time, linkType, bytes, wireLength }: FrameToFile, outcome: Outcome): Promise<void> {
    let interfaceId = this.#linkTypes.indexOf(linkType);
    if (this.#writer === null || interfaceId < 0) {
      // Interfaces come before frames in a section, so a new link type starts a new section.
      interfaceId = this.#linkTypes.push(linkType) - 1;
      this.#writer = newSection(this.#linkTypes);
      await this.#output.writeBytes(this.#writer.header());
    }
    const comments = [commentText(this.#loaded, bytes, outcome)];
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

function newSection(linkTypes: readonly number[]): PcapngWriter {
  return new PcapngWriter({ interfaces: linkTypes.map((linkType) => ({ linkType, nanoseconds: true })) });
}
