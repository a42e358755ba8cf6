/** Writes one pcapng file for each destination while frames arrive. */
import { join } from "node:path";
import { type Outcome, PcapngWriter } from "../../index.js";
import type { NumberedFrame } from "../input/captures.js";
import { CommandRefusal } from "../refusal.js";
import { makeFolder } from "./folder.js";
import { fileIdentity } from "./output.js";
import { SyncFile } from "./syncFile.js";

/** A frame as it arrived. */
export type FrameToFile = Pick<NumberedFrame, "time" | "linkType" | "bytes" | "wireLength"> &
  Partial<Pick<NumberedFrame, "number">>;

/** A capture of the frames of a destination. */
export interface WrittenCapture {
  /** The destination, or the verdict of frames without one. */
  readonly target: string;
  readonly path: string;
  readonly frames: number;
}

/** Characters of a file's name, without what tells names apart and the suffix: file systems take 255. */
const MAX_NAME = 200;

export class CaptureFiles {
  readonly #folder: string;
  /** Input files, which must not be overwritten. */
  readonly #inputs: ReadonlySet<string>;
  readonly #files = new Map<string, CaptureFile>();
  readonly #names = new Set<string>();

  /** Creates the folder. */
  constructor(folder: string, inputs: readonly string[]) {
    this.#folder = folder;
    this.#inputs = new Set(inputs.flatMap((file) => fileIdentity(file) ?? []));
    makeFolder(folder);
  }

  /**
   * Writes the frame to the file of each destination that it or a copy reached, with the bytes that
   * arrived there; a frame without destination goes to the file of its verdict.
   */
  add(frame: FrameToFile, { to, copies, verdict }: Outcome): void {
    if (to.length === 0) this.addTo(verdict, frame);
    for (const there of [...copies, ...to]) {
      const wireLength = frame.wireLength + there.frame.length - frame.bytes.length;
      const linkType = there.linkType ?? frame.linkType;
      const arrived = { ...frame, bytes: there.frame, wireLength, linkType };
      this.addTo(there.name, arrived);
      if (there.kind === "port" && there.outcome !== null) this.add(arrived, there.outcome);
    }
  }

  /** Writes buffered frames. Call it before their memory is reused. */
  flush(): void {
    for (const file of this.#files.values()) file.flush();
  }

  /** Writes the frame to the file of a destination, as it arrived there. */
  addTo(target: string, frame: FrameToFile): void {
    this.#file(target).add(frame);
  }

  /** The files, in the order of their first frame. */
  close(): WrittenCapture[] {
    return [...this.#files].map(([target, file]) => ({ target, ...file.close() }));
  }

  #file(target: string): CaptureFile {
    let file = this.#files.get(target);
    if (file === undefined) this.#files.set(target, (file = this.#open(target)));
    return file;
  }

  #open(target: string): CaptureFile {
    const plain = target
      .replace(":", "-")
      .replace(/[^\w.-]+/gu, "_")
      .slice(0, MAX_NAME);
    let name = plain;
    for (let n = 2; this.#names.has(name.toLowerCase()); n++) name = `${plain}~${n}`;
    this.#names.add(name.toLowerCase());
    const path = join(this.#folder, `${name}.pcapng`);
    if (this.#inputs.has(fileIdentity(path) ?? "")) {
      const hint = "it is a capture of this run; choose another folder for --out";
      throw new CommandRefusal(path, { code: "EINVAL", call: "flowsteer", reason: "cannot_write", hint });
    }
    return new CaptureFile(path);
  }
}

class CaptureFile {
  readonly #file: SyncFile;
  readonly #linkTypes: number[] = [];
  #writer: PcapngWriter | undefined;
  #held: Uint8Array[] = [];
  #frames = 0;

  constructor(path: string) {
    this.#file = new SyncFile(path);
  }

  add({ time, linkType, bytes, wireLength }: FrameToFile): void {
    let writer = this.#writer;
    if (writer === undefined || !this.#linkTypes.includes(linkType)) {
      // Interfaces precede frames in a section, so a new link type starts a new section.
      this.#linkTypes.push(linkType);
      writer = new PcapngWriter({ interfaces: this.#linkTypes.map((type) => ({ linkType: type, nanoseconds: true })) });
      this.#writer = writer;
      this.#held.push(writer.header());
    }
    const interfaceId = this.#linkTypes.indexOf(linkType);
    this.#held.push(writer.frame({ time: time === null ? null : inFile(time), bytes, wireLength, interfaceId }));
    this.#frames++;
  }

  flush(): void {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#file.write(bytes);
  }

  close(): { path: string; frames: number } {
    this.flush();
    this.#file.close();
    return { path: this.#file.path, frames: this.#frames };
  }
}

const LAST_TIME = 2n ** 64n - 1n;

/** The time, or the nearest one that the file can hold. */
export function inFile(time: bigint): bigint {
  return time < 0n ? 0n : time > LAST_TIME ? LAST_TIME : time;
}
