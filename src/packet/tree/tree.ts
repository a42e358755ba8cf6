/** `frameTree` turns a parsed frame into a tree: headers with offsets, fields with values, payload and trailer. */
import { MAP_ENTRIES } from "../../abi/headers.js";
import { readBits, readNumber } from "../bytes.js";
import { addressText, itemsOf, numberText, shortHex } from "./fieldText.js";
import { layoutOf, type FieldKind, type FieldLayout } from "../layout.js";
import type { HeaderName, ParsedHeaders } from "../parsedFrame.js";
import { LEFTOVER, type FrameTree, type TreeField, type TreeNode } from "./types.js";
import { verifyChecksums } from "./verify.js";

/**
 * The tree of a frame: every byte of it once, whatever it holds. Never throws for a frame and what `parseBatch` says of it.
 *
 * @param frame the captured bytes
 * @param parsed what `device.parseBatch` or `device.parseHeaders` gave for them
 */
export function frameTree(frame: Uint8Array, parsed: ParsedHeaders): FrameTree {
  const nodes: TreeNode[] = [];
  const { headers, payload } = parsed;
  let at = 0;
  const until = (to: number, header: TreeNode["header"], level: TreeNode["level"]): void => {
    const end = Math.min(Math.max(to, at), frame.length);
    if (end > at) nodes.push(bytesNode(frame, header, level, at, end));
    at = end;
  };
  for (const [i, { header, level, offset }] of headers.entries()) {
    until(offset, "unlisted", level);
    const listed = headers[i + 1]?.offset ?? (headers.length < MAP_ENTRIES ? payload.offset : at + fixedSize(header));
    const end = Math.min(Math.max(listed, at), payload.offset, frame.length);
    nodes.push({ header, level, offset: at, length: end - at, fields: fieldsIn(frame, header, at, end) });
    at = end;
  }
  const { header: last, level } = headers.at(-1) ?? { header: "none", level: "outer" };
  until(payload.offset, "unlisted", level);
  // Nothing belongs to an ARP packet behind its addresses.
  until(payload.end, last === "arp" ? "trailer" : "payload", level);
  until(frame.length, "trailer", "outer");
  verifyChecksums(frame, nodes);
  return { frame, nodes, stopped: parsed.stopped };
}

function bytesNode(
  frame: Uint8Array,
  header: TreeNode["header"],
  level: TreeNode["level"],
  offset: number,
  end: number,
): TreeNode {
  const length = end - offset;
  return { header, level, offset, length, fields: [bytesField("bytes", frame, offset, end)] };
}

function bytesField(name: string, frame: Uint8Array, offset: number, end: number): TreeField {
  const value = frame.slice(offset, end);
  return { name, offset, bit: 0, bits: 8 * value.length, value, text: shortHex(value) };
}

/** Bytes of the fields that every such header has. */
function fixedSize(header: HeaderName): number {
  const fixed = layoutOf(header).filter(([, bits, , detail]) => typeof bits === "number" && detail?.when === undefined);
  return fixed.reduce((sum, [, bits]) => sum + (bits as number), 0) / 8;
}

/** Fields as far as they fit into the header's bytes; what is left is one more. */
function fieldsIn(frame: Uint8Array, header: HeaderName, start: number, end: number): TreeField[] {
  const fields: TreeField[] = [];
  const numbers = new Map<string, number>();
  const look = (name: string): number | undefined => numbers.get(name);
  const layout = layoutOf(header);
  let at = 8 * start;
  for (const [i, field] of layout.entries()) {
    const [name, width, kind, detail] = field;
    if (detail?.when?.(look) === false) continue;
    const bits = typeof width === "number" ? width : width === "rest" ? 8 * end - at - behind(layout, i) : width(look);
    if (bits < 0 || at + bits > 8 * end) break;
    if (bits === 0) continue;
    const one = readField(frame, field, kind, at, bits);
    if (typeof one.value === "number") numbers.set(name, one.value);
    fields.push(one);
    at += bits;
  }
  // A header that was read whole has all of its fields; one that lies at the map's end may not.
  while (at % 8 !== 0) at -= fields.pop()?.bits ?? at % 8;
  if (at < 8 * end) fields.push(bytesField(LEFTOVER, frame, at / 8, end));
  return fields;
}

/** Bits of the fields behind one that takes what is left. */
function behind(layout: readonly FieldLayout[], i: number): number {
  return layout.slice(i + 1).reduce((sum, [, bits]) => sum + (typeof bits === "number" ? bits : 0), 0);
}

function readField(frame: Uint8Array, layout: FieldLayout, kind: FieldKind, at: number, bits: number): TreeField {
  const [name, , , detail] = layout;
  const place = { name, offset: at >> 3, bit: at & 7, bits };
  const end = place.offset + bits / 8;
  switch (kind) {
    case "number":
    case "hex":
    case "flag":
    case "flags": {
      const value = bits > 32 ? readBits(frame, at, bits) : readNumber(frame, at, bits);
      return { ...place, value, text: numberText(kind, bits, value, detail) };
    }
    case "mac":
    case "ipv4":
    case "ipv6":
    case "address": {
      const value = addressText(frame.slice(place.offset, end));
      return { ...place, value, text: typeof value === "string" ? value : shortHex(value) };
    }
    case "bytes":
      return bytesField(name, frame, place.offset, end);
    default: {
      const field = bytesField(name, frame, place.offset, end);
      const items = itemsOf(kind, field.value as Uint8Array, place.offset);
      return { ...field, items, text: items.map(({ text }) => text).join(", ") };
    }
  }
}
