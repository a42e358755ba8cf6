/** A core whose memory ends early, as that of a process that has no more. */
const MEMORY = 5;
const HEADER = 8;

/**
 * The module with a maximum of so many pages of its memory, 64 KiB each.
 * @param pages below 128
 */
export function withPages(module: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER; at < module.length;) {
    const id = module[at];
    const [length, body] = leb(module, at + 1);
    if (id !== MEMORY) {
      at = body + length;
      continue;
    }
    // One memory, without a maximum, of a single byte of pages.
    if (length !== 3 || module[body + 1] !== 0) throw new Error("the memory of the core is declared in another way");
    const memory = [MEMORY, 4, 1, 1, module[body + 2] as number, pages];
    return Uint8Array.from([...module.subarray(0, at), ...memory, ...module.subarray(body + length)]);
  }
  throw new Error("the core has no memory");
}

/** The number at a place, and where it ends. */
function leb(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return [value, at];
  }
}
