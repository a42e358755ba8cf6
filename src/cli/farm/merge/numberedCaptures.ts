/** Captures by destination of a share, with the number of each frame: the runner puts the frames of all shares in order. */
import { join } from "node:path";
import { CaptureFiles, type FrameToFile, type WrittenCapture } from "../../output/captureFiles.js";
import { SyncFile } from "../../output/syncFile.js";

/** Numbers that are held before they are written. */
const HELD = 65536;

/** The file with the numbers of the frames of a capture, which is so many captures after the first one of its folder. */
export function numbersFile(folder: string, place: number): string {
  return join(folder, `numbers-${place}`);
}

export class NumberedCaptures extends CaptureFiles {
  readonly #folder: string;
  readonly #numbers = new Map<string, Numbers>();

  constructor(folder: string) {
    super(folder, []);
    this.#folder = folder;
  }

  override addTo(target: string, frame: FrameToFile): void {
    super.addTo(target, frame);
    let numbers = this.#numbers.get(target);
    if (numbers === undefined) {
      numbers = new Numbers(numbersFile(this.#folder, this.#numbers.size));
      this.#numbers.set(target, numbers);
    }
    numbers.add(frame.number ?? 0);
  }

  override close(): WrittenCapture[] {
    for (const numbers of this.#numbers.values()) numbers.close();
    return super.close();
  }
}

/** A file of numbers, 64-bit floats in the byte order of the machine. */
class Numbers {
  readonly #file: SyncFile;
  readonly #held = new Float64Array(HELD);
  #count = 0;

  constructor(path: string) {
    this.#file = new SyncFile(path);
  }

  add(number: number): void {
    this.#held[this.#count++] = number;
    if (this.#count === HELD) this.#flush();
  }

  close(): void {
    this.#flush();
    this.#file.close();
  }

  #flush(): void {
    this.#file.write(new Uint8Array(this.#held.buffer, 0, 8 * this.#count));
    this.#count = 0;
  }
}
