/** Writes every frame of the devices to a pcapng file, with what happened to it as a comment. */
import { PcapngWriter, type DeviceEvents } from "../../../index.js";
import type { LoadedScenario } from "../../../scenario/index.js";
import { inFile } from "../../output/captureFiles.js";
import { SyncFile } from "../../output/syncFile.js";
import { commentText } from "../../report/comment.js";

/** Bytes that are held before a write. */
const CHUNK = 1 << 20;

export class AnnotatedFile {
  readonly #file: SyncFile;
  readonly #writer = new PcapngWriter({ interfaces: [] });
  /** By device, place and link type. */
  readonly #interfaces = new Map<string, number>();
  #held: Uint8Array[] = [];
  #bytes = 0;
  #frames = 0;
  /** The first write that failed. Frames come from events, which no one waits for: `end` throws it. */
  #failure: { readonly error: unknown } | null = null;

  /** Empties the file. @throws CommandRefusal it cannot be written */
  constructor(path: string) {
    this.#file = new SyncFile(path);
    this.#hold(this.#writer.header());
  }

  /** @param reason why it was lost; empty where that is not known */
  add(
    loaded: LoadedScenario,
    { port, sender, frame, outcome, time }: DeviceEvents["frame"],
    linkType: number,
    reason: string,
  ): void {
    const name = `${loaded.device.name} ${sender === null ? `port ${port}` : sender.label}`;
    const interfaceId = this.#interfaceOf(name, linkType);
    const comments = [`${commentText(loaded, frame, outcome)}${reason}`];
    this.#hold(
      this.#writer.frame({ time: inFile(time), bytes: frame, wireLength: frame.length, interfaceId, comments }),
    );
    this.#frames++;
  }

  /** Closes the file. @returns the number of its frames @throws CommandRefusal it could not be written */
  end(): { readonly path: string; readonly frames: number } {
    this.#flush();
    this.#file.close();
    if (this.#failure !== null) throw this.#failure.error;
    return { path: this.#file.path, frames: this.#frames };
  }

  #interfaceOf(name: string, linkType: number): number {
    const key = `${name} ${linkType}`;
    let id = this.#interfaces.get(key);
    if (id === undefined) {
      this.#interfaces.set(key, (id = this.#interfaces.size));
      this.#hold(this.#writer.addInterface({ linkType, nanoseconds: true, name }));
    }
    return id;
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= CHUNK) this.#flush();
  }

  #flush(): void {
    try {
      if (this.#failure === null) this.#file.write(Buffer.concat(this.#held));
    } catch (error) {
      this.#failure = { error };
    }
    this.#held = [];
    this.#bytes = 0;
  }
}
