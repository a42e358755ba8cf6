/** Which operands of a command are rules: the first, and texts that follow it before the first capture. */
import { open } from "node:fs/promises";

/** Bytes of a file that are looked at. */
const LOOKED_AT = 4096;
/** How compressed files begin: gzip, Zstandard, LZ4. */
const PACKED = [0x1f8b, 0x28b5, 0x0422];

/** Splits the operands after the first rules. A capture has bytes that no text has. */
export async function rulesAndCaptures(
  operands: readonly string[],
): Promise<{ readonly more: readonly string[]; readonly captures: readonly string[] }> {
  let count = 0;
  for (const path of operands) {
    if (!(await isText(path))) break;
    count++;
  }
  return { more: operands.slice(0, count), captures: operands.slice(count) };
}

/** Whether a regular file is a text. What cannot be read is refused where it is read. */
async function isText(path: string): Promise<boolean> {
  if (path === "-") return false;
  try {
    const file = await open(path);
    try {
      if (!(await file.stat()).isFile()) return false;
      const { bytesRead, buffer } = await file.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0);
      const bytes = buffer.subarray(0, bytesRead);
      return bytesRead > 0 && !bytes.includes(0) && !PACKED.includes(bytes.length < 2 ? 0 : bytes.readUInt16BE(0));
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
