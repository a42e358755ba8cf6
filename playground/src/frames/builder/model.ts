/** A packet that is built: its line, its headers, its bytes, and what the rules do with it. */
import { batch, signal } from "@preact/signals";
import { SteeringError } from "flowsteer";
import {
  buildFrame,
  layersOf,
  packetText,
  parsePacket,
  readHex,
  type FrameTree,
  type HeaderLayer,
  type HexFrame,
  type Layer,
} from "flowsteer/packet";
import type { FrameWay } from "../../engine/api.js";
import { engine } from "../../engine/client.js";

/** A header as the form has it: fields that are not given have the values that `buildFrame` gives them. */
export type FormLayer = Readonly<Record<string, unknown>> & { readonly header: string };

/** What is wrong with a packet. */
export interface PacketError {
  readonly text: string;
  /** Of the line, from 1; null for an error of the form. */
  readonly column: number | null;
  /** Of the form: the index of the header, and its field. */
  readonly layer: number | null;
  readonly field: string | null;
}

export class PacketModel {
  readonly line = signal("");
  readonly layers = signal<readonly FormLayer[]>([]);
  readonly error = signal<PacketError | null>(null);
  /** Of the last packet without an error. */
  readonly bytes = signal(new Uint8Array());
  readonly linkType = signal(1);
  /** What the rules do with these bytes; null while that is not known, and for frames that they do not take. */
  readonly way = signal<FrameWay | null>(null);
  #newest = 0;

  constructor(text: string) {
    this.setLine(text);
  }

  /** The line was edited: the form follows. */
  setLine(text: string): void {
    this.line.value = text;
    if (/^\s*(?:\d|packet=)/.test(text)) {
      const read = readHex(text);
      if ("fault" in read) this.error.value = { text: read.fault, column: read.column, layer: null, field: null };
      else void this.#setHex(read);
      return;
    }
    try {
      const { layers, linkType } = parsePacket(text);
      const bytes = buildFrame(layers);
      batch(() => {
        this.layers.value = layers.map(formLayer);
        this.#show(bytes, linkType);
      });
      void this.#steer();
    } catch (error) {
      this.error.value = errorOf(error);
    }
  }

  /** A text was pasted. @returns whether it is a frame in hexadecimal digits on several lines: form and line have it */
  paste(text: string): boolean {
    const read = text.includes("\n") ? readHex(text) : undefined;
    if (read === undefined || "fault" in read || read.bytes.length === 0) return false;
    void this.#setHex(read).then((tree) => {
      if (tree !== undefined) this.line.value = packetText(tree);
    });
    return true;
  }

  /** A frame is given by its bytes: the form follows. */
  async #setHex({ bytes, linkType }: HexFrame): Promise<FrameTree | undefined> {
    this.#show(bytes, linkType);
    const tree = (await this.#steer())?.snapshots[0]?.tree;
    if (tree !== undefined) this.layers.value = layersOf(tree).map(formLayer);
    return tree;
  }

  /** The form was edited: the line follows. */
  setLayers(layers: readonly FormLayer[]): void {
    this.layers.value = layers;
    try {
      const bytes = buildFrame(layers as unknown as Layer[]);
      this.#show(bytes, linkTypeOf(layers[0]?.header));
    } catch (error) {
      this.error.value = errorOf(error);
      return;
    }
    void this.#steer().then((way) => {
      const tree = way?.snapshots[0]?.tree;
      if (tree !== undefined && this.layers.peek() === layers) this.line.value = packetText(tree);
    });
  }

  /** Asks again, of other rules. */
  renew(): void {
    if (this.error.peek() === null) void this.#steer();
  }

  #show(bytes: Uint8Array, linkType: number): void {
    batch(() => {
      this.bytes.value = Uint8Array.from(bytes);
      this.linkType.value = linkType;
      this.error.value = null;
    });
  }

  async #steer(): Promise<FrameWay | null> {
    const own = ++this.#newest;
    const way = await engine().wayOf(this.bytes.peek(), this.linkType.peek());
    if (own !== this.#newest) return null;
    this.way.value = way;
    return way;
  }
}

function formLayer(layer: Layer): FormLayer {
  return layer instanceof Uint8Array ? { header: "payload", bytes: layer } : { ...(layer as HeaderLayer) };
}

/** The link type of a frame that begins with a header. */
function linkTypeOf(header: string | undefined): number {
  if (header === "ipv4" || header === "ipv6") return parsePacket(`raw / ${header}`).linkType;
  try {
    return parsePacket(header ?? "").linkType;
  } catch {
    return 1;
  }
}

function errorOf(error: unknown): PacketError {
  if (!(error instanceof SteeringError)) {
    return { text: error instanceof Error ? error.message : String(error), column: null, layer: null, field: null };
  }
  const { path, message } = error;
  const [, column] = /^column (\d+)/.exec(path ?? "") ?? [];
  const [, layer, field] = /^layers\[(\d+)\](?:\.(\w+))?/.exec(path ?? "") ?? [];
  return {
    // Call, place and errno are for programs.
    text: message.replace(/^\w+: (?:\S* ?\S+ = )?/, "").replace(" (EINVAL)", ""),
    column: column === undefined ? null : Number(column),
    layer: layer === undefined ? null : Number(layer),
    field: field ?? null,
  };
}
