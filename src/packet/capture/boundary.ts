/**
 * Finds the next record of a capture from any place on. Nothing in a capture marks where records begin, so the answer is a
 * guess: a place from which many plausible record headers follow each other. Whoever reads up to that place proves it.
 */
import { PCAP_RECORD, PCAP_VERSION, PCAP_HEADER, pcapReader } from "./pcap.js";
import { BLOCK, BLOCK_HEADER, BYTE_ORDER_MAGIC, MAX_BLOCK_LENGTH, pcapngReader, SECTION } from "./pcapng.js";
import { MAX_CAPTURE_LENGTH, viewOf } from "./record.js";

/** Records that must follow each other, unless they reach the end of the file. */
const CHAIN = 8;
/** Seconds between neighbours in a file. */
const MAX_PAUSE = 24 * 3600;

/** Gives the length of the record at this place, or null for none that is plausible. `before` is the record before it. */
type LengthAt = (view: DataView, at: number, before: number | null) => number | null;

/** How records of a capture follow each other. */
export interface RecordFinder {
  /** A record can begin at each place of the file that this number divides. */
  readonly step: number;
  readonly lengthAt: LengthAt;
}

/** The finder for a capture that begins with these bytes; null where records cannot be found. */
export function recordFinder(head: Uint8Array): RecordFinder | null {
  if (head.length < PCAP_HEADER.length) return null;
  const view = viewOf(head);
  const magic = view.getUint32(0, false);
  if (pcapngReader(magic) !== null) {
    const littleEndian = view.getUint32(SECTION.magic, true) === BYTE_ORDER_MAGIC;
    return { step: 4, lengthAt: (bytes, at) => blockLength(bytes, at, littleEndian) };
  }
  const littleEndian = magic === 0xd4c3b2a1 || magic === 0x4d3cb2a1;
  // The lengths of older files may be exchanged.
  if (pcapReader(magic) === null || view.getUint16(PCAP_HEADER.minor, littleEndian) !== PCAP_VERSION.minor) return null;
  const ticks = magic === 0xa1b23c4d || magic === 0x4d3cb2a1 ? 1e9 : 1e6;
  return { step: 1, lengthAt: (bytes, at, before) => recordLength(bytes, at, before, littleEndian, ticks) };
}

/**
 * The place in `bytes` where the first record begins that is followed by others. Null where these bytes are too few to tell.
 * @param offset the place of `bytes` in the file
 * @param isEnd whether the file ends with them
 */
export function findRecord(finder: RecordFinder, bytes: Uint8Array, offset: number, isEnd: boolean): number | null {
  const { step } = finder;
  const view = viewOf(bytes);
  for (let at = (step - (offset % step)) % step; at < bytes.length; at += step) {
    if (isFollowed(finder, view, at, isEnd)) return at;
  }
  // All of them belong to the last record.
  return isEnd ? bytes.length : null;
}

function isFollowed({ lengthAt }: RecordFinder, view: DataView, first: number, isEnd: boolean): boolean {
  let before: number | null = null;
  let at = first;
  for (let records = 0; ; records++) {
    if (isEnd && at === view.byteLength) return true;
    if (records === CHAIN) return true;
    const length: number | null = lengthAt(view, at, before);
    if (length === null || at + length > view.byteLength) return false;
    before = at;
    at += length;
  }
}

/** No capturing program writes an empty frame, and zeros are frequent in frames. */
function recordLength(
  view: DataView,
  at: number,
  before: number | null,
  littleEndian: boolean,
  ticks: number,
): number | null {
  if (at + PCAP_RECORD.length > view.byteLength) return null;
  const captured = view.getUint32(at + PCAP_RECORD.captured, littleEndian);
  const original = view.getUint32(at + PCAP_RECORD.original, littleEndian);
  if (captured === 0 || captured > MAX_CAPTURE_LENGTH || original < captured) return null;
  if (original > MAX_CAPTURE_LENGTH || view.getUint32(at + PCAP_RECORD.fraction, littleEndian) >= ticks) return null;
  if (before !== null) {
    const [then, now] = [before, at].map((one) => view.getUint32(one + PCAP_RECORD.seconds, littleEndian));
    if (Math.abs((now ?? 0) - (then ?? 0)) > MAX_PAUSE) return null;
  }
  return PCAP_RECORD.length + captured;
}

/** A block has its length at both ends. */
function blockLength(view: DataView, at: number, littleEndian: boolean): number | null {
  if (at + BLOCK_HEADER.shortest > view.byteLength) return null;
  const type = view.getUint32(at + BLOCK_HEADER.type, littleEndian);
  const length = view.getUint32(at + BLOCK_HEADER.length, littleEndian);
  if (type === 0 || length < BLOCK_HEADER.shortest || length % 4 !== 0 || length > MAX_BLOCK_LENGTH) return null;
  // The byte order may change with a section.
  if (type === BLOCK.sectionHeader || at + length > view.byteLength) return null;
  const trailer = view.getUint32(at + length - BLOCK_HEADER.trailer, littleEndian);
  return trailer === length ? length : null;
}
