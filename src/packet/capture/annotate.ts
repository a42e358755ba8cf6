/**
 * Copies capture files into one pcapng file, with a comment at each frame (draft-ietf-opsawg-pcapng, section 3.5, opt_comment).
 *
 * A pcapng file keeps its blocks and options byte for byte. Only what a comment needs changes: the length of a packet block, the
 * length of a section, and a simple packet block, which has no options, becomes an enhanced one. A pcap file becomes a section
 * with one interface. Files follow each other as sections.
 */
import { joined } from "../../base/bytes.js";
import { Blocks } from "./blocks.js";
import type { EncodedComment } from "./comment.js";
import { PCAP_HEADER, PCAP_MAGIC } from "./pcap.js";
import {
  BLOCK,
  BLOCK_HEADER,
  BYTE_ORDER_MAGIC,
  MAX_BLOCK_LENGTH,
  OPTION,
  PACKET,
  padded,
  SECTION,
  SIMPLE_PACKET,
} from "./pcapng.js";
import { viewOf, type FrameColumns } from "./record.js";

/** The next bytes of a file, and the frames that end in them. */
export interface FileBytes {
  readonly bytes: Uint8Array;
  /** The number of bytes of the file up to its last complete record (`CaptureDecoder`). */
  readonly complete: number;
  /** Frames that end in these bytes, and that the copy leaves out, before those of the columns. */
  readonly passed: number;
  readonly columns: FrameColumns;
}

/** Bytes that a packet block has more than the record that it was, besides its comment. */
const MAX_ADDED = PACKET.bytes + BLOCK_HEADER.trailer + 8;
/** Bytes of a section header and an interface description. */
const HEADERS = 128;
const NOTHING = new Uint8Array();

export class CaptureAnnotator {
  #copy: PcapCopy | PcapngCopy | null = null;
  #pending: Uint8Array = NOTHING;

  /** Starts the next file. */
  begin(): void {
    this.#copy = null;
    this.#pending = NOTHING;
  }

  /**
   * Copies the next bytes of a file.
   * @param comments one for each frame, from the first of the columns on; after the last, the copy of the file ends
   * @returns the next bytes of the annotated file
   */
  add(file: FileBytes, comments: readonly EncodedComment[]): Uint8Array {
    if (this.#copy !== null) return this.#copy.add(file, comments);
    const bytes = after(this.#pending, file.bytes);
    if (file.complete === 0) {
      // The header of the file is not complete.
      this.#pending = bytes.slice();
      return NOTHING;
    }
    this.#copy = viewOf(bytes).getUint32(0) === BLOCK.sectionHeader ? new PcapngCopy() : new PcapCopy(bytes);
    return this.#copy.add({ ...file, bytes }, comments);
  }
}

/** A pcap file: its frames are those of the columns. */
class PcapCopy {
  readonly #tick: bigint;
  #header: Uint8Array;

  constructor(file: Uint8Array) {
    const view = viewOf(file);
    const magics: readonly number[] = Object.values(PCAP_MAGIC);
    const littleEndian = !magics.includes(view.getUint32(0));
    const nanoseconds = view.getUint32(0, littleEndian) === PCAP_MAGIC.nanoseconds;
    const type = view.getUint32(PCAP_HEADER.linkType, littleEndian);
    const snapLength = view.getUint32(PCAP_HEADER.snapLength, littleEndian);
    const out = new Blocks(HEADERS, true);
    out.section();
    // FCS(4) R P 0(10) type(16): with P, the frame check sequence has FCS words of 16 bits.
    out.device(type & 0xffff, snapLength, nanoseconds, (type & 0x04000000) === 0 ? null : (type >>> 28) * 16);
    this.#header = out.written;
    this.#tick = nanoseconds ? 1n : 1000n;
  }

  add({ columns }: FileBytes, comments: readonly EncodedComment[]): Uint8Array {
    const { lengths, wireLengths, offsets, bytes } = columns;
    let most = this.#header.length;
    for (const [row, { little }] of comments.entries()) most += (lengths[row] ?? 0) + little.length + MAX_ADDED;
    const out = new Blocks(most, true);
    out.copy(this.#header, 0, this.#header.length);
    this.#header = NOTHING;
    for (const [row, comment] of comments.entries()) {
      const ticks = (columns.time(row) ?? 0n) / this.#tick;
      const captured = lengths[row] ?? 0;
      const begin = out.packet(0, Number(ticks >> 32n), Number(ticks & 0xffffffffn), captured, wireLengths[row] ?? 0);
      out.frame(bytes, offsets[row] ?? 0, captured);
      out.comment(comment);
      out.word(OPTION.end);
      out.close(begin);
    }
    return out.written;
  }
}

/** A pcapng file: its blocks are copied. */
class PcapngCopy {
  #littleEndian = true;
  /** Bytes that were read and not copied, and their offset in the file. */
  #pending: Uint8Array = NOTHING;
  #offset = 0;
  /** The offset of the block that is copied next. */
  #next = 0;
  #ended = false;

  add({ bytes, complete, passed, columns }: FileBytes, comments: readonly EncodedComment[]): Uint8Array {
    if (this.#ended) return NOTHING;
    const data = after(this.#pending, bytes);
    const view = viewOf(data);
    let most = data.length;
    for (const { little } of comments) most += little.length + MAX_ADDED;
    const out = new Blocks(most, this.#littleEndian);
    let row = -passed;
    for (const end = complete - this.#offset; this.#next - this.#offset < end;) {
      const at = this.#next - this.#offset;
      if (view.getUint32(at) === BLOCK.sectionHeader) {
        this.#littleEndian = view.getUint32(at + SECTION.magic) !== BYTE_ORDER_MAGIC;
        out.littleEndian = this.#littleEndian;
      }
      const type = view.getUint32(at, this.#littleEndian);
      const length = view.getUint32(at + BLOCK_HEADER.length, this.#littleEndian);
      if (!PACKETS.has(type)) copyBlock(out, data.subarray(at, at + length), type);
      else if (row >= comments.length) {
        this.#ended = true;
        break;
      } else if (row++ >= 0) {
        const before = row - 1;
        copyPacket(
          out,
          data.subarray(at, at + length),
          columns.lengths[before] ?? 0,
          comments[before] as EncodedComment,
        );
      }
      this.#next += length;
    }
    this.#keep(data);
    return out.written;
  }

  /** Keeps what was read of the next block, or passes over it. */
  #keep(data: Uint8Array): void {
    const at = this.#next - this.#offset;
    if (data.length - at >= BLOCK_HEADER.body) {
      const view = viewOf(data);
      const length = view.getUint32(at + BLOCK_HEADER.length, this.#littleEndian);
      // The byte order of a section is read with its first block.
      if (length > MAX_BLOCK_LENGTH && view.getUint32(at) !== BLOCK.sectionHeader) this.#next += length;
    }
    this.#pending = data.slice(this.#next - this.#offset);
    this.#offset += data.length - this.#pending.length;
  }
}

const PACKETS: ReadonlySet<number> = new Set([BLOCK.enhancedPacket, BLOCK.simplePacket, BLOCK.packet]);

/** SPEC: a block that is no frame, and longer than the longest frame that is read, is left out. */
function copyBlock(out: Blocks, block: Uint8Array, type: number): void {
  if (block.length > MAX_BLOCK_LENGTH) return;
  const begin = out.length;
  out.copy(block, 0, block.length);
  // Its packet blocks become longer.
  if (type === BLOCK.sectionHeader) out.forgetSectionLength(begin);
}

/** The comment comes before the options that the block has. */
function copyPacket(out: Blocks, block: Uint8Array, captured: number, comment: EncodedComment): void {
  const view = viewOf(block);
  const type = view.getUint32(BLOCK_HEADER.type, out.littleEndian);
  const simple = type === BLOCK.simplePacket;
  const optionsAt = PACKET.bytes + padded(captured);
  const end = block.length - BLOCK_HEADER.trailer;
  let begin: number;
  if (simple) {
    // Its wire length is all that a simple packet says.
    begin = out.packet(0, 0, 0, captured, view.getUint32(SIMPLE_PACKET.original, out.littleEndian));
    out.frame(block, SIMPLE_PACKET.bytes, captured);
  } else {
    begin = out.length;
    out.copy(block, 0, optionsAt);
  }
  out.comment(comment);
  if (simple || optionsAt === end) out.word(OPTION.end);
  else out.copy(block, optionsAt, end - optionsAt);
  out.close(begin);
}

/** Both, without a copy where the first is empty. */
function after(first: Uint8Array, second: Uint8Array): Uint8Array {
  return first.length === 0 ? second : joined(first, second);
}
