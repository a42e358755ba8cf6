/** A slow reader of the blocks of a pcapng file, for comparison. */

export interface Block {
  type: number;
  /** The byte order of its section. */
  little: boolean;
  /** The bytes between its two lengths. */
  body: Uint8Array;
}

/** @param little the byte order of blocks before the first section header */
export function blocksOf(file: Uint8Array, little = true): Block[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const blocks: Block[] = [];
  for (let at = 0; at < file.length;) {
    if (view.getUint32(at) === 0x0a0d0d0a) little = file[at + 8] === 0x4d;
    const length = view.getUint32(at + 4, little);
    if (view.getUint32(at + length - 4, little) !== length) throw new Error(`block at ${at}: two lengths`);
    blocks.push({ type: view.getUint32(at, little), little, body: file.slice(at + 8, at + length - 4) });
    at += length;
  }
  return blocks;
}

/** The comments of a packet block with options. */
export function commentsOf({ body, little }: Block): string[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const comments: string[] = [];
  for (let at = 20 + Math.ceil(view.getUint32(12, little) / 4) * 4; at < body.length;) {
    const code = view.getUint16(at, little);
    const length = view.getUint16(at + 2, little);
    if (code === 0) break;
    if (code === 1) comments.push(new TextDecoder().decode(body.subarray(at + 4, at + 4 + length)));
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return comments;
}
