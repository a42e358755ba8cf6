/** A file that is written synchronously; what refuses a write names the file. */
import { closeSync, openSync, writeSync } from "node:fs";
import { writeRefusal } from "./output.js";

export class SyncFile {
  readonly path: string;
  readonly #handle: number;
  #written = 0;

  /** Makes the file, or empties it. @throws CommandRefusal it cannot be written */
  constructor(path: string) {
    this.path = path;
    try {
      this.#handle = openSync(path, "w");
    } catch (error) {
      throw writeRefusal(path, error);
    }
  }

  /** @throws CommandRefusal not all bytes can be written */
  write(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length;) {
        const wrote = writeSync(this.#handle, bytes, at);
        at += wrote;
        this.#written += wrote;
      }
    } catch (error) {
      throw writeRefusal(this.path, error, this.#written);
    }
  }

  close(): void {
    closeSync(this.#handle);
  }
}
