/** Annotated captures with comments that are known. */
import { CaptureAnnotator } from "../../../src/packet/capture/annotate.js";
import { encodeComment } from "../../../src/packet/capture/comment.js";
import { CaptureDecoder, FrameColumns } from "../../../src/packet/capture/read.js";
import { concat } from "./captureHelpers.js";

/** The comment of a frame. */
export const textOf = (number: number): string => `frame ${number}: ${"é".repeat(number % 5)}`;

/** Annotates a file that is read in chunks of one size; a chunk is wiped before the next. */
export function annotated(file: Uint8Array, size = file.length, wanted = { first: 1, last: Infinity }): Uint8Array {
  const annotator = new CaptureAnnotator();
  const decoder = new CaptureDecoder();
  const columns = new FrameColumns();
  const parts: Uint8Array[] = [];
  let read = 0;
  annotator.begin();
  for (let begin = 0; begin < file.length && read < wanted.last; begin += size) {
    const chunk = file.slice(begin, begin + size);
    for (let at = 0; at < chunk.length && read < wanted.last;) {
      const from = at;
      at = decoder.read(chunk, at, columns);
      const end = Math.min(columns.count, wanted.last - read);
      const passed = Math.max(0, Math.min(wanted.first - 1 - read, end));
      // Only the last frame is ever wanted alone.
      if (passed > 0 && passed < end) columns.keep(passed);
      const comments = Array.from({ length: end - passed }, (_, i) => encodeComment(textOf(read + passed + i + 1)));
      const bytes = chunk.subarray(from, at);
      parts.push(annotator.add({ bytes, complete: decoder.completeBytes, passed, columns }, comments).slice());
      read += end;
    }
    chunk.fill(0xee);
  }
  return concat(...parts);
}
