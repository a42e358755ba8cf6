/** Filters for what a frame shows: a field with its value, or bytes. */
import type { TreeField, TreeNode } from "../tree/types.js";
import { filterNameOf, packetFilterFields } from "./fields.js";

/** Bytes of a value that are written with the name of their field; more are a part of the frame. */
const MAX_VALUE = 32;

/** The filter that frames with the same value of a field pass: `ip.dst == 10.0.0.7`. */
export function filterOfField(frame: Uint8Array, node: TreeNode, field: TreeField): string {
  const name = filterNameOf(node.header, field.name);
  const known = name === null ? undefined : packetFilterFields().get(name);
  const { value, offset, bits, text } = field;
  const length = Math.ceil(bits / 8);
  if (known === undefined || (known.type === "bytes" && length > MAX_VALUE))
    return filterOfBytes(frame, offset, length);
  if (typeof value === "string") return `${known.name} == ${value}`;
  if (typeof value !== "number") return `${known.name} == ${bytesText(frame, offset, length)}`;
  const counts = known.places?.find((place) => place.header === node.header && place.field === field.name)?.counts;
  const written =
    counts === undefined && text.startsWith("0x") ? `0x${value.toString(16)}` : (counts?.(value) ?? value);
  return `${known.name} == ${written}`;
}

/** The filter that frames with the same bytes at the same place pass: `frame[42:2] == 12:b5`. */
export function filterOfBytes(frame: Uint8Array, offset: number, length: number): string {
  return `frame[${offset}:${length}] == ${bytesText(frame, offset, length)}`;
}

function bytesText(frame: Uint8Array, offset: number, length: number): string {
  return Array.from(frame.subarray(offset, offset + length), (byte) => byte.toString(16).padStart(2, "0")).join(":");
}
