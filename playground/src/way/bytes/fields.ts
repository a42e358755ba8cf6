/** Where the fields of a frame lie. */
import type { FrameTree, HeaderField, TreeField } from "flowsteer/packet";

/** The bytes of a field. */
export function bytesOf({ offset, bit, bits }: TreeField): { readonly offset: number; readonly length: number } {
  return { offset, length: Math.ceil((bit + bits) / 8) };
}

/** The field that lies at a byte: where several share it, the first one. */
export function fieldAtByte(tree: FrameTree, at: number): HeaderField | null {
  const node = tree.nodes.find(({ offset, length }) => at >= offset && at < offset + length);
  const field = node?.fields.find((one) => {
    const { offset, length } = bytesOf(one);
    return at >= offset && at < offset + length;
  });
  return node === undefined || field === undefined ? null : { node, field };
}
