/** The frames of a document. */
import { cannotRun, type FrameInput } from "flowsteer/scenario";
import type { Pace } from "../work/lane.js";
import type { FrameHead, Frames, SeeBytes } from "./frames.js";

export class DocumentFrames implements Frames {
  readonly capture = null;
  readonly inputs: readonly FrameInput[];

  constructor(inputs: readonly FrameInput[]) {
    this.inputs = inputs;
  }

  get count(): number {
    return this.inputs.length;
  }

  input(frame: number): FrameInput {
    const input = this.inputs[frame - 1];
    if (input === undefined) throw new RangeError(`there is no frame ${frame}`);
    return input;
  }

  head(frame: number): FrameHead {
    const { bytes, time = null, wireLength = bytes.length, linkType = 1, name = null } = this.input(frame);
    return { time, length: bytes.length, wireLength, linkType, name };
  }

  nameOf(frame: number): string | null {
    return this.input(frame).name ?? null;
  }

  bytes(frames: readonly number[]): Promise<Uint8Array[]> {
    return Promise.resolve(frames.map((frame) => this.input(frame).bytes));
  }

  async scan(pace: Pace, see: SeeBytes, flush: () => void): Promise<void> {
    for (const [i, { bytes, linkType = 1 }] of this.inputs.entries()) {
      if (cannotRun(linkType, bytes.length) === null) see(i + 1, bytes, linkType);
      await pace.rest();
    }
    flush();
  }
}
