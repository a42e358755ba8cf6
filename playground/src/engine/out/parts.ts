/** A file that is written in parts. */

/** Bytes that are gathered before they become a part: a browser keeps parts out of the memory of the page. */
const GATHERED = 8 << 20;

export class FileParts {
  readonly #parts: Blob[] = [];
  #gathered: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;

  /** Adds bytes, which it copies. */
  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#gathered.push(bytes.slice());
    this.#length += bytes.length;
    if (this.#length >= GATHERED) this.#gather();
  }

  end(): Blob {
    this.#gather();
    return new Blob(this.#parts, { type: "application/x-pcapng" });
  }

  #gather(): void {
    this.#parts.push(new Blob(this.#gathered));
    this.#gathered = [];
    this.#length = 0;
  }
}
