/** Standard output that waits for its reader. */

/** Lines gathered before they are written. */
const CHUNK = 65536;

export class Output {
  #held = "";

  /** Adds text; writes, and waits where the reader is slow, once there is enough of it. */
  async write(text: string): Promise<void> {
    this.#held += text;
    if (this.#held.length >= CHUNK) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#held;
    this.#held = "";
    if (text === "" || process.stdout.write(text)) return;
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}

/** A reader that has seen enough (`| head`) ends the command quietly. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
}
