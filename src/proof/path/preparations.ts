/**
 * Frames that change what a device remembers, before a frame that depends on it: the frame itself, so that meters empty, flags
 * are set and replay windows move; and the beginning of the frame's TCP connection, in both directions.
 */
import type { Device } from "../../model/device/device.js";
import { buildFrame, frameTree, layersOf, type Layer } from "../../packet/index.js";
import type { Entry } from "./graph.js";

/** A frame that comes before another one. */
export interface Prepared {
  readonly frame: Uint8Array;
  readonly entry: Entry;
  /** The initial metadata register A of a sent frame. */
  readonly metadata: number;
}

/** How often a frame is repeated before itself. */
const REPEATS = [1, 2, 4, 16, 64, 256];

const SYN = 0x002;
const SYN_ACK = 0x012;
const ACK = 0x010;
const RST = 0x004;
const FIN_ACK = 0x011;
/** Farther than any window of RFC 7323. */
const FAR = 0x60000000;

/** Lists of frames, the most likely to help first. */
export function* preparations(
  device: Device,
  last: Prepared,
  entries: readonly Entry[],
): Generator<readonly Prepared[]> {
  const segments = tcpSegments(device, last.frame);
  if (segments !== null) yield* connections(segments, last.entry, entries);
  for (const count of REPEATS) yield Array.from({ length: count }, () => last);
}

interface Segments {
  /** A segment of the frame's connection, in its direction or the other one. */
  make(back: boolean, flags: number, sequence: number, acknowledgement: number): Uint8Array;
  readonly sequence: number;
  readonly acknowledgement: number;
}

function* connections(segments: Segments, entry: Entry, entries: readonly Entry[]): Generator<readonly Prepared[]> {
  const { sequence, acknowledgement } = segments;
  const others = [entry, ...entries.filter((one) => one !== entry)];
  for (const other of others) {
    // The frame is sent by who opened the connection, then by who accepted it; then its numbers are far from those of the connection.
    for (const [opens, off] of [
      [true, 0],
      [false, 0],
      [true, FAR],
      [false, FAR],
    ] as const) {
      const seq = (sequence + off) >>> 0;
      const ack = (acknowledgement + off) >>> 0;
      const [mine, theirs] = [(seq - 1) >>> 0, (ack - 1) >>> 0];
      const open = {
        frame: segments.make(!opens, SYN, opens ? mine : theirs, 0),
        entry: opens ? entry : other,
        metadata: 0,
      };
      const accept = {
        frame: segments.make(opens, SYN_ACK, opens ? theirs : mine, opens ? seq : ack),
        entry: opens ? other : entry,
        metadata: 0,
      };
      const confirm = {
        frame: segments.make(!opens, ACK, opens ? seq : ack, opens ? ack : seq),
        entry: open.entry,
        metadata: 0,
      };
      const reset = { frame: segments.make(!opens, RST, opens ? seq : ack, 0), entry: open.entry, metadata: 0 };
      const close = {
        frame: segments.make(!opens, FIN_ACK, opens ? seq : ack, opens ? ack : seq),
        entry: open.entry,
        metadata: 0,
      };
      yield [open];
      yield [open, accept];
      yield [open, accept, confirm];
      yield [open, accept, confirm, close];
      yield [open, accept, confirm, reset];
    }
  }
}

function tcpSegments(device: Device, frame: Uint8Array): Segments | null {
  const [parsed] = device.parseHeaders([frame]);
  if (parsed === undefined) return null;
  const layers = layersOf(frameTree(frame, parsed));
  const tcp = layers.find((layer) => headerOf(layer) === "tcp") as Readonly<Record<string, unknown>> | undefined;
  if (tcp === undefined) return null;
  const numberAt = (name: string): number => (typeof tcp[name] === "number" ? tcp[name] : 0);
  return {
    sequence: numberAt("sequence"),
    acknowledgement: numberAt("acknowledgement"),
    make: (back, flags, sequence, acknowledgement) =>
      buildFrame(layers.map((layer) => changed(layer, back, { flags, sequence, acknowledgement }))),
  };
}

function headerOf(layer: Layer): string {
  return layer instanceof Uint8Array ? "payload" : layer.header;
}

/** A layer of a segment of the same connection: checksums and lengths are made anew. */
function changed(layer: Layer, back: boolean, numbers: Readonly<Record<string, number>>): Layer {
  const header = headerOf(layer);
  if (header === "payload" || header === "trailer") return new Uint8Array();
  const fields: Record<string, unknown> = { ...(layer as unknown as Record<string, unknown>) };
  for (const name of ["checksum", "total_length", "payload_length", "length"]) Reflect.deleteProperty(fields, name);
  if (header === "tcp") Object.assign(fields, numbers);
  const ends = header === "tcp" ? ["source_port", "destination_port"] : ["source", "destination"];
  const [from, to] = ends as [string, string];
  if (back && from in fields && to in fields) [fields[from], fields[to]] = [fields[to], fields[from]];
  return fields as unknown as Layer;
}
