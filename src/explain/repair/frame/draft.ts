/** A frame as layers that repairs change. What was right before stays right: lengths and checksums follow a change. */
import type { Level } from "../../../headers/fields.js";
import { joined } from "../../../base/bytes.js";
import { SteeringError } from "../../../errors.js";
import { buildFrame, layersOf, type Layer } from "../../../packet/builder/build.js";
import { frameTree } from "../../../packet/tree/tree.js";
import type { FrameTree, TreeNode } from "../../../packet/tree/types.js";
import type { ParsedBytes } from "../facts.js";

/** Values of a layer, as `buildFrame` takes them. A value that is undefined is derived. */
export type LayerFields = Record<string, unknown>;

export interface DraftLayer {
  readonly header: TreeNode["header"];
  readonly level: Level;
  readonly fields: LayerFields;
  /** Its bytes as they came; empty for a layer that was added. */
  readonly bytes: Uint8Array;
}

/** Fields that count what a header has or carries, by header. */
const LENGTHS: Readonly<Record<string, readonly string[]>> = {
  ipv4: ["ihl", "total_length"],
  ipv6: ["payload_length"],
  udp: ["length"],
  geneve: ["opt_len"],
  gtpu: ["length"],
};

/** The field that says what follows, by header. */
const ANNOUNCES: Readonly<Record<string, string>> = {
  ethernet: "type",
  vlan: "type",
  linux_cooked: "protocol",
  linux_cooked_v2: "protocol",
  loopback: "family",
  ipv4: "protocol",
  ipv6: "next_header",
  ipv6_hop_by_hop: "next_header",
  ipv6_routing: "next_header",
  ipv6_destination: "next_header",
  ipv6_fragment: "next_header",
  ah: "next_header",
  gre: "protocol_type",
  geneve: "protocol_type",
  vxlan_gpe: "next_protocol",
};

/** Whether a field counts what its header has or carries: no value of its own can be chosen for it. */
export function isCounted({ header }: DraftLayer, field: string): boolean {
  return LENGTHS[header]?.includes(field) ?? false;
}

export class FrameDraft {
  readonly layers: DraftLayer[];

  private constructor(layers: DraftLayer[]) {
    this.layers = layers;
  }

  static of({ bytes, parsed }: ParsedBytes): FrameDraft {
    const tree = frameTree(bytes, parsed);
    const layers = draftLayers(tree);
    tree.nodes.forEach((node, i) => {
      if (node.fields.some(({ name, right }) => name === "checksum" && right === true)) forget(layers[i], "checksum");
    });
    return new FrameDraft(layers);
  }

  /** The index of the n-th layer of these kinds at a level; -1 without one. */
  indexOf(level: Level, headers: readonly string[], n = 0): number {
    const at = this.layers.flatMap((layer, i) => (layer.level === level && headers.includes(layer.header) ? [i] : []));
    return at[n] ?? -1;
  }

  /** The n-th layer of these kinds at a level. */
  find(level: Level, headers: readonly string[], n = 0): DraftLayer | undefined {
    return this.layers[this.indexOf(level, headers, n)];
  }

  /** Replaces layers. Lengths, and the field that announces the first new layer, are derived again. */
  splice(at: number, count: number, ...added: readonly DraftLayer[]): void {
    this.layers.splice(at, count, ...added);
    for (const layer of this.layers) for (const name of LENGTHS[layer.header] ?? []) forget(layer, name);
    const before = this.layers[at - 1];
    if (before !== undefined) forget(before, ANNOUNCES[before.header] ?? "");
  }

  /** The index after the last layer of the packet: that of its trailer. */
  get end(): number {
    const trailer = this.layers.findIndex(({ header }) => header === "trailer");
    return trailer < 0 ? this.layers.length : trailer;
  }

  /** The bytes of the packet from a layer on, as they came. */
  bytesFrom(index: number): Uint8Array {
    return joined(...this.layers.slice(index, this.end).map(({ bytes }) => bytes));
  }

  /** The frame; null if no frame has these layers. */
  build(): Uint8Array | null {
    try {
      return buildFrame(this.layers.map(({ header, fields }) => ({ header, ...fields }) as Layer));
    } catch (error) {
      if (error instanceof SteeringError) return null;
      throw error;
    }
  }
}

/** A layer that is new; fields that are left out are derived. */
export function newLayer(header: TreeNode["header"], level: Level, fields: LayerFields = {}): DraftLayer {
  return { header, level, fields, bytes: new Uint8Array() };
}

/** Lets `buildFrame` derive a field. */
export function forget(layer: DraftLayer | undefined, name: string): void {
  if (layer !== undefined && name in layer.fields) layer.fields[name] = undefined;
}

function draftLayers(tree: FrameTree): DraftLayer[] {
  const layers = layersOf(tree);
  return tree.nodes.map(({ level, offset, length }, i) => {
    const { header, ...fields } = layers[i] as Exclude<Layer, Uint8Array>;
    return { header, level, fields, bytes: tree.frame.slice(offset, offset + length) };
  });
}
