/** Reads the pcapng format (draft-ietf-opsawg-pcapng). */

import type { CaptureInterface, FrameClock, FrameColumns, RecordReader, Step } from "./record.js";
import { broken, viewedBytes, MAX_CAPTURE_LENGTH, need, record, viewOf } from "./record.js";

/** Block types, section 4. The type of a section header is the same in both byte orders. */
export const BLOCK = {
  sectionHeader: 0x0a0d0d0a,
  interfaceDescription: 1,
  /** Obsolete, appendix A. */
  packet: 2,
  simplePacket: 3,
  enhancedPacket: 6,
} as const;

/**
 * Every block, section 3.1. The length includes all fields and is a multiple of 4; the trailer
 * repeats it.
 *
 *     0      4        8          length - 4   length
 *     | type | length | body...  | length     |
 */
export const BLOCK_HEADER = { type: 0, length: 4, body: 8, trailer: 4, shortest: 12 } as const;

/**
 * Section header, section 4.1. Its magic gives the byte order of the section. Interface numbers
 * start again at 0.
 *
 *     8       12      14      16               24
 *     | magic | major | minor | section length | options...
 */
export const SECTION = { magic: 8, major: 12, sectionLength: 16, options: 24 } as const;

export const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
export const PCAPNG_MAJOR = 1;

/**
 * Interface description, section 4.2.
 *
 *      8           10         12        16
 *      | link type | reserved | snaplen | options...
 */
export const INTERFACE = { linkType: 8, snapLength: 12, options: 16 } as const;

/**
 * Enhanced packet, section 4.3. The obsolete packet block has a 16-bit interface and a 16-bit drop
 * count instead of the interface, and the same fields from byte 12 on.
 *
 *     8           12          16         20                24                28
 *     | interface | time high | time low | captured length | original length | bytes, padded to 4 | options...
 */
export const PACKET = { interfaceId: 8, timeHigh: 12, timeLow: 16, captured: 20, original: 24, bytes: 28 } as const;

/**
 * Simple packet, section 4.4: on interface 0, without a time. Its captured length is the smaller of
 * original length and snapshot length.
 *
 *     8                 12
 *     | original length | bytes, padded to 4
 */
export const SIMPLE_PACKET = { original: 8, bytes: 12 } as const;

/** Options, section 3.5: code(2) length(2) value, padded to 4. */
export const OPTION = {
  end: 0,
  comment: 1,
  interfaceName: 2,
  timeResolution: 9,
  checkLength: 13,
  timeOffset: 14,
} as const;

/**
 * The block types that are read, and their smallest length in bytes. All other blocks are skipped.
 */
const KNOWN_BLOCKS = new Map<number, { what: string; shortest: number }>([
  [BLOCK.sectionHeader, { what: "section header block", shortest: SECTION.options + 4 }],
  [BLOCK.interfaceDescription, { what: "interface description block", shortest: INTERFACE.options + 4 }],
  [BLOCK.packet, { what: "packet block", shortest: PACKET.bytes + 4 }],
  [BLOCK.simplePacket, { what: "simple packet block", shortest: SIMPLE_PACKET.bytes + 4 }],
  [BLOCK.enhancedPacket, { what: "enhanced packet block", shortest: PACKET.bytes + 4 }],
]);

/** The largest number of bytes held of a block, and of interfaces in a section. */
export const MAX_BLOCK_LENGTH = 16 * 1024 * 1024;
const MAX_INTERFACES = 65536;

/**
 * The reader for a file that starts with these four bytes, read as big-endian; null for another
 * format.
 */
export function pcapngReader(magic: number): RecordReader | null {
  return magic === BLOCK.sectionHeader ? new PcapngReader() : null;
}

/** Rounds up to a multiple of 4. */
export function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

/** The length of an option has 16 bits. */
export const MAX_OPTION = 0xffff;

/** An option (section 3.5). */
export function optionOf(code: number, value: Uint8Array, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(4 + padded(value.length));
  const view = viewOf(bytes);
  view.setUint16(0, code, littleEndian);
  view.setUint16(2, value.length, littleEndian);
  bytes.set(value, 4);
  return bytes;
}

class PcapngReader implements RecordReader {
  readonly format = "pcapng";
  interfaces: CaptureInterface[] = [];
  frames = 0;
  #clocks: FrameClock[] = [];
  #littleEndian = false;
  /** The length of the skipped block whose trailer comes next. */
  #skipped: number | null = null;

  read(view: DataView, at: number, rows: FrameColumns): Step {
    const available = view.byteLength - at;
    if (this.#skipped !== null) return this.#readSkippedTrailer(view, at, this.#skipped);
    if (available < BLOCK_HEADER.body) return need(BLOCK_HEADER.body, "block header");

    const type = view.getUint32(at, this.#littleEndian);
    if (type === BLOCK.sectionHeader) {
      if (available < SECTION.magic + 4) return need(SECTION.magic + 4, "section header block");
      const magic = view.getUint32(at + SECTION.magic, false);
      this.#littleEndian = magic !== BYTE_ORDER_MAGIC;
      if (view.getUint32(at + SECTION.magic, this.#littleEndian) !== BYTE_ORDER_MAGIC) {
        return broken(SECTION.magic, "byte-order magic", BYTE_ORDER_MAGIC, magic);
      }
    }

    const length = view.getUint32(at + BLOCK_HEADER.length, this.#littleEndian);
    const known = KNOWN_BLOCKS.get(type);
    const shortest = known?.shortest ?? BLOCK_HEADER.shortest;
    if (length < shortest || length % 4 !== 0)
      return broken(BLOCK_HEADER.length, "block length", Math.max(shortest, padded(length)), length);
    if (known === undefined) {
      this.#skipped = length;
      const what = `block of type 0x${type.toString(16)}`;
      return { kind: "skip", bytes: length - BLOCK_HEADER.trailer, what, recordLength: length };
    }
    if (length > MAX_BLOCK_LENGTH) return broken(BLOCK_HEADER.length, "block length", MAX_BLOCK_LENGTH, length);
    if (available < length) return need(length, known.what);
    const trailer = view.getUint32(at + length - BLOCK_HEADER.trailer, this.#littleEndian);
    if (trailer !== length) return broken(length - BLOCK_HEADER.trailer, "trailing block length", length, trailer);
    return this.#readBlock(type, view, at, length, rows);
  }

  #readSkippedTrailer(view: DataView, at: number, length: number): Step {
    if (view.byteLength - at < BLOCK_HEADER.trailer) return need(BLOCK_HEADER.trailer, "trailing block length");
    const trailer = view.getUint32(at, this.#littleEndian);
    if (trailer !== length) return broken(length - BLOCK_HEADER.trailer, "trailing block length", length, trailer);
    this.#skipped = null;
    return record(BLOCK_HEADER.trailer);
  }

  #readBlock(type: number, view: DataView, at: number, length: number, rows: FrameColumns): Step {
    switch (type) {
      case BLOCK.sectionHeader:
        return this.#readSection(new DataView(view.buffer, view.byteOffset + at, length));
      case BLOCK.interfaceDescription:
        return this.#readInterface(new DataView(view.buffer, view.byteOffset + at, length));
      case BLOCK.simplePacket:
        return this.#readSimplePacket(view, at, length, rows);
      case BLOCK.packet:
        return this.#readPacket(view, at, length, view.getUint16(at + PACKET.interfaceId, this.#littleEndian), rows);
      default:
        return this.#readPacket(view, at, length, view.getUint32(at + PACKET.interfaceId, this.#littleEndian), rows);
    }
  }

  /** The minor version is ignored: writers used 0 and 2 for the same format (section 4.1). */
  #readSection(block: DataView): Step {
    const major = block.getUint16(SECTION.major, this.#littleEndian);
    if (major !== PCAPNG_MAJOR) return broken(SECTION.major, "major version", PCAPNG_MAJOR, major);
    this.interfaces = [];
    this.#clocks = [];
    return record(block.byteLength);
  }

  #readInterface(block: DataView): Step {
    if (this.interfaces.length === MAX_INTERFACES) {
      return broken(BLOCK_HEADER.type, "number of interfaces", MAX_INTERFACES, MAX_INTERFACES + 1);
    }
    const device: CaptureInterface = {
      linkType: block.getUint16(INTERFACE.linkType, this.#littleEndian),
      snapLength: block.getUint32(INTERFACE.snapLength, this.#littleEndian),
      name: null,
      ticksPerSecond: 1_000_000n,
      timeOffset: 0n,
    };
    const end = block.byteLength - BLOCK_HEADER.trailer;
    for (let at: number = INTERFACE.options; at < end;) {
      const code = block.getUint16(at, this.#littleEndian);
      const length = block.getUint16(at + 2, this.#littleEndian);
      const value = at + 4;
      if (code === OPTION.end) break;
      if (length > end - value) return broken(at + 2, "option length", end - value, length);
      if (code === OPTION.interfaceName) {
        device.name = new TextDecoder().decode(viewedBytes(block, value, length));
      } else if (code === OPTION.timeResolution) {
        if (length !== 1) return broken(at + 2, "if_tsresol length", 1, length);
        device.ticksPerSecond = ticksPerSecond(block.getUint8(value));
      } else if (code === OPTION.timeOffset) {
        if (length !== 8) return broken(at + 2, "if_tsoffset length", 8, length);
        device.timeOffset = block.getBigInt64(value, this.#littleEndian);
      }
      at = value + padded(length);
    }
    this.interfaces.push(device);
    this.#clocks.push(clockOf(device));
    return record(block.byteLength);
  }

  #readPacket(view: DataView, at: number, length: number, interfaceId: number, rows: FrameColumns): Step {
    const clock = this.#clocks[interfaceId];
    if (clock === undefined) return noInterface(this.interfaces.length, interfaceId);
    const captured = view.getUint32(at + PACKET.captured, this.#littleEndian);
    const wireLength = view.getUint32(at + PACKET.original, this.#littleEndian);
    const high = view.getUint32(at + PACKET.timeHigh, this.#littleEndian);
    const low = view.getUint32(at + PACKET.timeLow, this.#littleEndian);
    const tooLong = tooLongFor(length, PACKET.captured, PACKET.bytes, captured);
    if (tooLong !== null) return tooLong;
    this.#add(rows, at + PACKET.bytes, captured, wireLength, interfaceId, clock, high, low);
    return record(length);
  }

  #readSimplePacket(view: DataView, at: number, length: number, rows: FrameColumns): Step {
    const device = this.interfaces[0];
    if (device === undefined) return noInterface(0, 0);
    const wireLength = view.getUint32(at + SIMPLE_PACKET.original, this.#littleEndian);
    const captured = Math.min(wireLength, device.snapLength || wireLength);
    const tooLong = tooLongFor(length, SIMPLE_PACKET.original, SIMPLE_PACKET.bytes, captured);
    if (tooLong !== null) return tooLong;
    this.#add(rows, at + SIMPLE_PACKET.bytes, captured, wireLength, 0, NO_CLOCK, 0, 0);
    return record(length);
  }

  #add(
    rows: FrameColumns,
    offset: number,
    captured: number,
    wireLength: number,
    interfaceId: number,
    clock: FrameClock,
    high: number,
    low: number,
  ): void {
    this.frames++;
    const { linkType } = this.interfaces[interfaceId] as CaptureInterface;
    rows.add(offset, captured, wireLength, linkType, interfaceId, clock, high, low);
  }
}

/** Breaks off at a packet whose captured length exceeds its block or the largest frame. */
function tooLongFor(length: number, field: number, bytesAt: number, captured: number): Step | null {
  const most = Math.min(length - BLOCK_HEADER.trailer - bytesAt, MAX_CAPTURE_LENGTH);
  return captured > most ? broken(field, "captured length", most, captured) : null;
}

/** Simple packets have no time. */
const NO_CLOCK: FrameClock = () => null;

/** The two words are a number of ticks (section 4.3). */
function clockOf({ ticksPerSecond, timeOffset }: CaptureInterface): FrameClock {
  return (high, low) => {
    const ticks = (BigInt(high) << 32n) | BigInt(low);
    return (ticks * 1_000_000_000n) / ticksPerSecond + timeOffset * 1_000_000_000n;
  };
}

/** An interface is described before its packets (section 4.2). */
function noInterface(described: number, interfaceId: number): Step {
  return broken(PACKET.interfaceId, "interface of a packet", Math.max(described - 1, 0), interfaceId);
}

/** if_tsresol, section 4.2: the high bit selects a negative power of 2 instead of 10. */
function ticksPerSecond(resolution: number): bigint {
  const exponent = BigInt(resolution & 0x7f);
  return resolution & 0x80 ? 1n << exponent : 10n ** exponent;
}
