/** `packetText` writes packet notation: docs/packet.md, "Packets in one line". */
import { hexOf } from "../bytes.js";
import { buildFrame, layersOf, type Layer } from "../builder/build.js";
import { layoutOf, TCP_FLAGS, type FieldLayout } from "../layout.js";
import { tcpFlags } from "../tree/summary.js";
import type { FrameTree, TreeField } from "../tree/types.js";
import { optionList } from "./optionList.js";
import { ENDS, type NotedHeader } from "./header.js";
import { parsePacket } from "./parse.js";
import { SHORT } from "./vocabulary.js";

/** A header, and its fields as the frame has them. */
interface Written {
  readonly header: NotedHeader;
  readonly fields: ReadonlyMap<string, unknown>;
  /** Fields to write. */
  named: string[];
}

/**
 * The frame in one line, as `parsePacket` reads it: addresses, ports, and the fields whose values `buildFrame` would not give.
 * `buildFrame(parsePacket(packetText(tree)).layers)` is the frame again, also where it is damaged.
 */
export function packetText(tree: FrameTree): string {
  const all = layersOf(tree).map(writtenOf);
  leaveOut(all, tree.frame);
  const texts = all.map((one, i) => headerText(one, i, tree, all));
  const text = texts.join(" / ");
  const [first, second] = all;
  const plain = first?.header === "ethernet" && first.named.length === 0 && second !== undefined;
  for (const shorter of plain ? [texts.slice(1).join(" / "), text] : [text]) {
    if (gives(() => parsePacket(shorter).layers, tree.frame)) return shorter;
  }
  return ["raw", ...texts].join(" / ");
}

function writtenOf(layer: Layer): Written {
  const { header, ...fields } = layer as { header: NotedHeader };
  return { header, fields: new Map(Object.entries(fields)), named: Object.keys(fields) };
}

/** Leaves out what follows from the rest, as long as the frame stays as it is. */
function leaveOut(all: readonly Written[], frame: Uint8Array): void {
  const stays = (): boolean => gives(() => all.map(layerOf), frame);
  for (const one of all) {
    const before = one.named;
    one.named = before.filter((name) => ENDS[one.header]?.includes(name) === true && one.header !== "ethernet");
    if (one.header === "payload" || one.header === "trailer" || one.fields.has("bytes")) one.named = before;
    else if (!stays()) {
      one.named = before;
      for (const name of before) {
        const rest = one.named;
        one.named = rest.filter((other) => other !== name || ENDS[one.header]?.includes(name));
        if (!stays()) one.named = rest;
      }
    }
  }
}

function layerOf({ header, fields, named }: Written): Layer {
  return { header, ...Object.fromEntries(named.map((name) => [name, fields.get(name)])) } as Layer;
}

/** Whether layers build this frame. */
function gives(layers: () => readonly Layer[], frame: Uint8Array): boolean {
  try {
    const built = buildFrame(layers());
    return built.length === frame.length && built.every((byte, i) => byte === frame[i]);
  } catch {
    return false;
  }
}

function headerText(one: Written, index: number, tree: FrameTree, all: readonly Written[]): string {
  const { header, named, fields } = one;
  if (header === "payload" || header === "trailer") return `${header} ${bytesText(fields.get("bytes") as Uint8Array)}`;
  const words: string[] = [header];
  const ends = ENDS[header]?.filter((name) => typeof fields.get(name) !== "object") ?? [];
  const shown = ends.length === 2 && ends.some((name) => named.includes(name)) ? ends : [];
  if (shown.length > 0) words.push(ends.map((name) => String(fields.get(name))).join(" > "));
  // The flags of TCP stand at its ports, as tcpdump has them.
  const order = header === "tcp" ? named.toSorted((a, b) => Number(b === "flags") - Number(a === "flags")) : named;
  for (const name of order) {
    if (shown.includes(name)) continue;
    const field = layoutOf(header).find(([other]) => other === name);
    const value = fields.get(name);
    if (field === undefined) words.push(`${name} ${bytesText(value as Uint8Array)}`);
    else {
      const found = tree.nodes[index]?.fields.find((other) => other.name === name);
      words.push(listText(one, field, found, tree.frame, all) ?? fieldText(field, value));
    }
  }
  return words.join(" ");
}

function fieldText([name, bits, kind, detail]: FieldLayout, value: unknown): string {
  const called = Object.entries(SHORT).find(([word, names]) => word.length < 4 && names.includes(name))?.[0] ?? name;
  if (value instanceof Uint8Array) return `${called} ${bytesText(value)}`;
  if (kind === "flag") return Number(value) === 1 ? name : `${name} 0`;
  if (kind === "flags" && typeof value === "number") return flagsText(name, value, detail?.bits ?? []);
  if (kind === "hex")
    return `${called} 0x${BigInt(value as number)
      .toString(16)
      .padStart(Number(bits) / 4, "0")}`;
  return `${called} ${String(value)}`;
}

function flagsText(name: string, value: number, names: readonly string[]): string {
  const set = names.filter((_, i) => ((value >> (names.length - 1 - i)) & 1) === 1);
  if (names === TCP_FLAGS) return tcpFlags(value);
  return set.length === 0 ? `${name} 0` : set.join(" ");
}

/** Options as a list, if the list gives the same bytes. */
function listText(
  one: Written,
  [name, , kind]: FieldLayout,
  field: TreeField | undefined,
  frame: Uint8Array,
  all: readonly Written[],
): string | undefined {
  if (field?.items === undefined || field.items.length === 0) return undefined;
  const text = field.items.map((item) => item.text).join(", ");
  const list = optionList(kind, { kind: "list", text, column: 1 });
  const layers = (): Layer[] =>
    all.map((other) => {
      const fields = other === one ? new Map(other.fields).set(name, list) : other.fields;
      return layerOf({ ...other, fields });
    });
  return gives(layers, frame) ? `[${text}]` : undefined;
}

function bytesText(bytes: Uint8Array): string {
  if (bytes.length > 0 && bytes.every((byte) => byte === 0))
    return `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"}`;
  return `0x${hexOf(bytes)}`;
}
