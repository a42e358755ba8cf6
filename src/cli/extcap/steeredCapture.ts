/** Writes the frames of a served device as a capture, with a comment at each frame. */
import { once } from "node:events";
import { closeSync, constants, createWriteStream, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { PcapngWriter } from "../../index.js";
import { isObject } from "../../base/checks.js";
import { JsonError, parseJson } from "../../base/json.js";
import { Interruption } from "../interruption.js";
import { badUsage, refusalOf, type CommandRefusal } from "../refusal.js";
import { counted } from "../text.js";

/** How often a pipe is tried that nobody reads yet. */
const EACH_MILLISECONDS = 50;

/** An event `steered` (docs/serve.md). */
interface Steered {
  readonly since1970: string;
  readonly place: string;
  readonly linkType: number;
  readonly frame: string;
  readonly comment: string;
  /** Events before this one that were left out. */
  readonly lost?: number;
}

/** Frames of the device as blocks of a capture: an interface for each place and link type. */
export class SteeredWriter {
  readonly #writer = new PcapngWriter({ interfaces: [] });
  readonly #interfaces = new Map<string, number>();

  header(): Uint8Array {
    return this.#writer.header();
  }

  blocks({ since1970, place, linkType, frame, comment, lost = 0 }: Steered): Uint8Array {
    const blocks: Uint8Array[] = [];
    const key = `${linkType} ${place}`;
    let interfaceId = this.#interfaces.get(key);
    if (interfaceId === undefined) {
      this.#interfaces.set(key, (interfaceId = this.#interfaces.size));
      blocks.push(this.#writer.addInterface({ linkType, nanoseconds: true, name: place }));
    }
    const comments = lost === 0 ? [comment] : [comment, `flowsteer: ${counted(lost, "frame")} before it left out`];
    const bytes = Uint8Array.from(Buffer.from(frame, "hex"));
    blocks.push(this.#writer.frame({ time: BigInt(since1970), bytes, interfaceId, comments }));
    return Buffer.concat(blocks);
  }
}

/**
 * Writes what the device steers, until a signal, the end of the reader, or the end of the device.
 * @param control the Unix socket of its control
 * @param pipe where the capture is written
 */
export async function captureSteered(control: string, pipe: string): Promise<void> {
  const socket = connect({ path: control });
  try {
    await once(socket, "connect");
  } catch (error) {
    throw noDevice(control, (error as Error).message);
  }
  socket.on("error", () => socket.destroy());
  const interruption = new Interruption();
  try {
    const reader = await readerOf(pipe, interruption);
    if (reader !== null) await writeSteered(socket, control, pipe, reader, interruption);
  } finally {
    interruption.end();
    socket.destroy();
  }
}

/** @param reader a descriptor that keeps the pipe open until it is opened here */
async function writeSteered(
  socket: Socket,
  control: string,
  pipe: string,
  reader: number,
  interruption: Interruption,
): Promise<void> {
  const end = (): void => void socket.destroy();
  const out = createWriteStream(pipe).once("open", () => closeSync(reader));
  const lines = createInterface({ input: socket });
  socket.on("close", () => lines.close());
  if (socket.closed) lines.close();
  out.on("error", end);
  interruption.stop = end;
  const writer = new SteeredWriter();
  out.write(writer.header());
  socket.write('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"events":["steered"]}}\n');
  try {
    for await (const line of lines) {
      const message: unknown = parseJson(line);
      if (!isObject(message)) throw noDevice(control, "it speaks another protocol");
      if (isObject(message["error"])) throw noDevice(control, String(message["error"]["message"]));
      if (!isObject(message["params"])) continue;
      // A reader that is slow makes the device leave frames out.
      if (!out.write(writer.blocks(message["params"] as unknown as Steered)) && !out.destroyed) await drained(out);
    }
  } catch (error) {
    if (error instanceof JsonError) throw noDevice(control, "it speaks another protocol");
    throw error;
  } finally {
    if (!out.destroyed) await new Promise<void>((resolve) => out.end(() => resolve()));
  }
  // A reader that is gone has ended the capture.
  const failure: NodeJS.ErrnoException | null = out.errored;
  if (failure !== null && failure.code !== "EPIPE") throw refusalOf(pipe, failure);
}

/**
 * Waits until somebody reads the pipe: to open it earlier would block a thread that the end of the process waits for.
 * @returns a descriptor that keeps it open; null after a signal
 */
async function readerOf(pipe: string, interruption: Interruption): Promise<number | null> {
  while (interruption.signal === null) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_CREAT | (constants.O_NONBLOCK ?? 0));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw refusalOf(pipe, error);
    }
    await setTimeout(EACH_MILLISECONDS);
  }
  return null;
}

function drained(out: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      out.off("drain", done).off("close", done);
      resolve();
    };
    out.on("drain", done).on("close", done);
  });
}

function noDevice(control: string, why: string): CommandRefusal {
  return badUsage(`--control ${control}`, `cannot connect: ${why}; start flowsteer serve --control unix:${control}`);
}
