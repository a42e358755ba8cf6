/** `frameTree` turns a parsed frame into a tree: headers with offsets, fields with values, payload and trailer. */
import { MAP_ENTRIES } from "../../abi/headers.js";
import { layoutOf, type FieldLayout } from "../layout.js";
import { bytesLayout, lazyField, readField, type FieldMaker } from "./field.js";
import type { HeaderName, ParsedHeaders } from "../parsedFrame.js";
import { LEFTOVER, type FrameTree, type TreeField, type TreeNode } from "./types.js";
import { noteChecksum, verifyChecksums } from "./verify.js";

/**
 * The tree of a frame: every byte of it once, whatever it holds. Never throws for a frame and what `parseBatch` says of it.
 *
 * @param frame the captured bytes
 * @param parsed what `device.parseBatch` or `device.parseHeaders` gave for them
 */
export function frameTree(frame: Uint8Array, parsed: ParsedHeaders): FrameTree {
  const nodes = nodesOf(frame, parsed, readField);
  verifyChecksums(frame, nodes);
  for (const { fields } of nodes) fields.forEach(noteChecksum);
  return { frame, nodes, stopped: parsed.stopped };
}

/**
 * The same tree, for a reader of few fields: a field reads its value and its text when they are
 * asked for. Texts of checksums do not tell whether they are right.
 */
export function lazyTree(frame: Uint8Array, parsed: ParsedHeaders): FrameTree {
  const nodes = frameNodes(frame, parsed);
  verifyChecksums(frame, nodes);
  return { frame, nodes, stopped: parsed.stopped };
}

/** The nodes of a lazy tree; checksums are not verified. */
export function frameNodes(frame: Uint8Array, parsed: ParsedHeaders): TreeNode[] {
  return nodesOf(frame, parsed, lazyField);
}

function nodesOf(frame: Uint8Array, { headers, payload }: ParsedHeaders, make: FieldMaker): TreeNode[] {
  const nodes: TreeNode[] = [];
  let at = 0;
  const until = (to: number, header: TreeNode["header"], level: TreeNode["level"]): void => {
    const end = Math.min(Math.max(to, at), frame.length);
    if (end > at) nodes.push(bytesNode(frame, header, level, at, end, make));
    at = end;
  };
  for (const [i, { header, level, offset }] of headers.entries()) {
    until(offset, "unlisted", level);
    const listed = headers[i + 1]?.offset ?? (headers.length < MAP_ENTRIES ? payload.offset : at + fixedSize(header));
    const end = Math.min(Math.max(listed, at), payload.offset, frame.length);
    nodes.push({ header, level, offset: at, length: end - at, fields: fieldsIn(frame, header, at, end, make) });
    at = end;
  }
  const { header: last, level } = headers.at(-1) ?? { header: "none", level: "outer" };
  until(payload.offset, "unlisted", level);
  // Nothing belongs to an ARP packet behind its addresses.
  until(payload.end, last === "arp" ? "trailer" : "payload", level);
  until(frame.length, "trailer", "outer");
  return nodes;
}

function bytesNode(
  frame: Uint8Array,
  header: TreeNode["header"],
  level: TreeNode["level"],
  offset: number,
  end: number,
  make: FieldMaker,
): TreeNode {
  const length = end - offset;
  return { header, level, offset, length, fields: [make(frame, BYTES, 8 * offset, 8 * length)] };
}

const BYTES = bytesLayout("bytes");
const LEFT = bytesLayout(LEFTOVER);

/** Bytes of the fields that every such header has. */
function fixedSize(header: HeaderName): number {
  const fixed = layoutOf(header).filter(([, bits, , detail]) => typeof bits === "number" && detail?.when === undefined);
  return fixed.reduce((sum, [, bits]) => sum + (bits as number), 0) / 8;
}

/** Fields as far as they fit into the header's bytes; what is left is one more. */
function fieldsIn(frame: Uint8Array, header: HeaderName, start: number, end: number, make: FieldMaker): TreeField[] {
  const fields: TreeField[] = [];
  // Of two fields of one name, the later one.
  const look = (name: string): number | undefined => {
    const value = fields.findLast((field) => field.name === name)?.value;
    return typeof value === "number" ? value : undefined;
  };
  const layout = layoutOf(header);
  let at = 8 * start;
  for (let i = 0; i < layout.length; i++) {
    const field = layout[i] as FieldLayout;
    const width = field[1];
    if (field[3]?.when?.(look) === false) continue;
    const bits = typeof width === "number" ? width : width === "rest" ? 8 * end - at - behind(layout, i) : width(look);
    if (bits < 0 || at + bits > 8 * end) break;
    if (bits === 0) continue;
    fields.push(make(frame, field, at, bits));
    at += bits;
  }
  // A header that was read whole has all of its fields; one that lies at the map's end may not.
  while (at % 8 !== 0) at -= fields.pop()?.bits ?? at % 8;
  if (at < 8 * end) fields.push(make(frame, LEFT, at, 8 * end - at));
  return fields;
}

/** Bits of the fields behind one that takes what is left. */
function behind(layout: readonly FieldLayout[], i: number): number {
  return layout.slice(i + 1).reduce((sum, [, bits]) => sum + (typeof bits === "number" ? bits : 0), 0);
}
