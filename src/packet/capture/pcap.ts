/** Reads the pcap format (draft-ietf-opsawg-pcap). */

import type { CaptureInterface, FrameClock, FrameColumns, RecordReader, Step } from "./record.js";
import { broken, MAX_CAPTURE_LENGTH, need, record } from "./record.js";

/** Magic numbers, in the byte order of the writer. */
export const PCAP_MAGIC = { microseconds: 0xa1b2c3d4, nanoseconds: 0xa1b23c4d } as const;

export const PCAP_VERSION = { major: 2, minor: 4 } as const;

/**
 * The order of the two lengths of a record. Up to version 2.2 the original length is first. Of
 * version 2.3 both orders exist: the captured length is the smaller one.
 */
type LengthOrder = "captured first" | "original first" | "smaller is captured";

function lengthOrder(minor: number): LengthOrder {
  if (minor === PCAP_VERSION.minor) return "captured first";
  return minor < 3 ? "original first" : "smaller is captured";
}

/**
 * File header, section 4.
 *
 *     0       4       6       8          12         16        20                         24
 *     | magic | major | minor | reserved | reserved | snaplen | FCS(4) R P 0(10) type(16) |
 *
 * The bits above the link type describe a frame check sequence after each frame. They are ignored.
 */
export const PCAP_HEADER = { major: 4, minor: 6, snapLength: 16, linkType: 20, length: 24 } as const;

/**
 * Packet record header, section 5.
 *
 *      0         4                   8                 12                16
 *      | seconds | micro/nanoseconds | captured length | original length | bytes...
 *
 * Versions before 2.4 can have the two lengths in the other order (`LengthOrder`).
 */
export const PCAP_RECORD = { seconds: 0, fraction: 4, captured: 8, original: 12, length: 16 } as const;

/**
 * The reader for a file that starts with these four bytes, read as big-endian; null for another
 * format.
 */
export function pcapReader(magic: number): RecordReader | null {
  switch (magic) {
    case 0xa1b2c3d4:
      return new PcapReader(false, 1_000_000n);
    case 0xd4c3b2a1:
      return new PcapReader(true, 1_000_000n);
    case 0xa1b23c4d:
      return new PcapReader(false, 1_000_000_000n);
    case 0x4d3cb2a1:
      return new PcapReader(true, 1_000_000_000n);
    default:
      return null;
  }
}

class PcapReader implements RecordReader {
  readonly format = "pcap";
  readonly interfaces: CaptureInterface[] = [];
  frames = 0;
  readonly #littleEndian: boolean;
  readonly #ticksPerSecond: bigint;
  readonly #clock: FrameClock;
  #order: LengthOrder = "captured first";

  constructor(littleEndian: boolean, ticksPerSecond: bigint) {
    this.#littleEndian = littleEndian;
    this.#ticksPerSecond = ticksPerSecond;
    const tick = 1_000_000_000n / ticksPerSecond;
    this.#clock = (seconds, fraction) => BigInt(seconds) * 1_000_000_000n + BigInt(fraction) * tick;
  }

  read(view: DataView, at: number, rows: FrameColumns): Step {
    const device = this.interfaces[0];
    return device === undefined ? this.#readHeader(view, at) : this.#readPackets(view, at, device, rows);
  }

  #readHeader(view: DataView, at: number): Step {
    if (view.byteLength - at < PCAP_HEADER.length) return need(PCAP_HEADER.length, "pcap file header");
    const major = view.getUint16(at + PCAP_HEADER.major, this.#littleEndian);
    const minor = view.getUint16(at + PCAP_HEADER.minor, this.#littleEndian);
    if (major !== PCAP_VERSION.major) return broken(PCAP_HEADER.major, "major version", PCAP_VERSION.major, major);
    if (minor > PCAP_VERSION.minor) return broken(PCAP_HEADER.minor, "minor version", PCAP_VERSION.minor, minor);
    this.#order = lengthOrder(minor);
    this.interfaces.push({
      linkType: view.getUint32(at + PCAP_HEADER.linkType, this.#littleEndian) & 0xffff,
      snapLength: view.getUint32(at + PCAP_HEADER.snapLength, this.#littleEndian),
      name: null,
      ticksPerSecond: this.#ticksPerSecond,
      timeOffset: 0n,
    });
    return record(PCAP_HEADER.length);
  }

  /** Reads complete records from `at` on, until `rows` are full. */
  #readPackets(view: DataView, at: number, { linkType }: CaptureInterface, rows: FrameColumns): Step {
    const littleEndian = this.#littleEndian;
    const clock = this.#clock;
    const order = this.#order;
    let next = at;
    for (; !rows.full; this.frames++) {
      const available = view.byteLength - next;
      if (available < PCAP_RECORD.length) return next > at ? record(next - at) : NEEDS_HEADER;
      let captured = view.getUint32(next + PCAP_RECORD.captured, littleEndian);
      let wireLength = view.getUint32(next + PCAP_RECORD.original, littleEndian);
      if (order !== "captured first" && (order === "original first" || captured > wireLength)) {
        [captured, wireLength] = [wireLength, captured];
      }
      const length = PCAP_RECORD.length + captured;
      if (available < length || captured > MAX_CAPTURE_LENGTH)
        return next > at ? record(next - at) : without(captured, order);
      const seconds = view.getUint32(next + PCAP_RECORD.seconds, littleEndian);
      const fraction = view.getUint32(next + PCAP_RECORD.fraction, littleEndian);
      rows.add(next + PCAP_RECORD.length, captured, wireLength, linkType, 0, clock, seconds, fraction);
      next += length;
    }
    return record(next - at);
  }
}

const NEEDS_HEADER = need(PCAP_RECORD.length, "packet record header");

/** The next step for a record that is not complete. */
function without(captured: number, order: LengthOrder): Step {
  const field = order === "original first" ? PCAP_RECORD.original : PCAP_RECORD.captured;
  if (captured > MAX_CAPTURE_LENGTH) return broken(field, "captured length", MAX_CAPTURE_LENGTH, captured);
  return need(PCAP_RECORD.length + captured, "packet record");
}
