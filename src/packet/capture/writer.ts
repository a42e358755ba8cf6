/**
 * Writes capture files. `header()` gives the first bytes of the file, `frame()` those of each frame
 * after it. Times are rounded down to the resolution of the file.
 */

import { inCall, refuse } from "../../errors.js";
import { MAX_CAPTURE_LENGTH, viewOf } from "./record.js";
import { PCAP_HEADER, PCAP_MAGIC, PCAP_RECORD, PCAP_VERSION } from "./pcap.js";
import {
  BLOCK,
  BLOCK_HEADER,
  BYTE_ORDER_MAGIC,
  INTERFACE,
  MAX_OPTION,
  OPTION,
  optionOf,
  PACKET,
  padded,
  PCAPNG_MAJOR,
  SECTION,
  SIMPLE_PACKET,
} from "./pcapng.js";

/** A frame to write. */
export interface FrameToWrite {
  /**
   * Nanoseconds since the epoch; null for none. SPEC: a pcapng file then has a simple packet block,
   * which can only hold a whole frame of interface 0; any other record has the time 0.
   */
  time: bigint | null;
  /** The captured bytes. A pcap file keeps at most its snapshot length of them. */
  bytes: Uint8Array;
  /** Its length on the wire in bytes. @default the length of `bytes` */
  wireLength?: number;
  /** The index of its interface in a pcapng file; ignored for pcap. @default 0 */
  interfaceId?: number;
  /**
   * Comments, which Wireshark shows and filters as `frame.comment`; ignored for pcap. A simple packet
   * block has none: a frame without a time then has the time 0.
   */
  comments?: readonly string[];
}

export interface PcapWriterOptions {
  linkType: number;
  nanoseconds?: boolean;
  littleEndian?: boolean;
  /** The snapshot length: the largest number of bytes kept of a frame. */
  snapLength?: number;
}

export interface PcapngWriterOptions {
  interfaces: readonly { linkType: number; nanoseconds?: boolean; name?: string }[];
  littleEndian?: boolean;
}

/** Writes a pcap file. */
export class PcapWriter {
  readonly #linkType: number;
  readonly #nanoseconds: boolean;
  readonly #littleEndian: boolean;
  readonly #snapLength: number;

  constructor({ linkType, nanoseconds = false, littleEndian = true, snapLength = 262144 }: PcapWriterOptions) {
    inCall("PcapWriter", () => {
      inRange("linkType", linkType, 0, 0xffff);
      inRange("snapLength", snapLength, 1, MAX_CAPTURE_LENGTH);
    });
    this.#linkType = linkType;
    this.#snapLength = snapLength;
    this.#nanoseconds = nanoseconds;
    this.#littleEndian = littleEndian;
  }

  /** The bytes of the file header. */
  header(): Uint8Array {
    const bytes = new Uint8Array(PCAP_HEADER.length);
    const view = viewOf(bytes);
    view.setUint32(0, this.#nanoseconds ? PCAP_MAGIC.nanoseconds : PCAP_MAGIC.microseconds, this.#littleEndian);
    view.setUint16(PCAP_HEADER.major, PCAP_VERSION.major, this.#littleEndian);
    view.setUint16(PCAP_HEADER.minor, PCAP_VERSION.minor, this.#littleEndian);
    view.setUint32(PCAP_HEADER.snapLength, this.#snapLength, this.#littleEndian);
    view.setUint32(PCAP_HEADER.linkType, this.#linkType, this.#littleEndian);
    return bytes;
  }

  /** The record of a frame. @throws EINVAL if its time or lengths do not fit the format */
  frame(frame: FrameToWrite): Uint8Array {
    return inCall("PcapWriter.frame", () => {
      const { captured, wireLength } = lengthsOf(frame, this.#snapLength);
      const time = frame.time ?? 0n;
      const seconds = time / 1_000_000_000n;
      if (time < 0n || seconds > 0xffffffffn) outOfRange("time", time);
      const fraction = Number(time % 1_000_000_000n);
      const bytes = new Uint8Array(PCAP_RECORD.length + captured);
      const view = viewOf(bytes);
      view.setUint32(PCAP_RECORD.seconds, Number(seconds), this.#littleEndian);
      view.setUint32(
        PCAP_RECORD.fraction,
        this.#nanoseconds ? fraction : Math.floor(fraction / 1000),
        this.#littleEndian,
      );
      view.setUint32(PCAP_RECORD.captured, captured, this.#littleEndian);
      view.setUint32(PCAP_RECORD.original, wireLength, this.#littleEndian);
      bytes.set(frame.bytes.subarray(0, captured), PCAP_RECORD.length);
      return bytes;
    });
  }
}

/** An interface of a pcapng file. */
type InterfaceToWrite = PcapngWriterOptions["interfaces"][number];

/**
 * Writes a pcapng file: one section, its interfaces without snapshot length, and packet blocks.
 */
export class PcapngWriter {
  readonly #interfaces: InterfaceToWrite[];
  readonly #littleEndian: boolean;

  constructor({ interfaces, littleEndian = true }: PcapngWriterOptions) {
    inCall("PcapngWriter", () => {
      interfaces.forEach(({ linkType }, i) => inRange(`interfaces[${i}].linkType`, linkType, 0, 0xffff));
    });
    this.#interfaces = interfaces.map((device) => ({ ...device }));
    this.#littleEndian = littleEndian;
  }

  /** The section header and the interface descriptions. */
  header(): Uint8Array {
    const section = this.#block(BLOCK.sectionHeader, SECTION.options - BLOCK_HEADER.body);
    section.setUint32(SECTION.magic, BYTE_ORDER_MAGIC, this.#littleEndian);
    section.setUint16(SECTION.major, PCAPNG_MAJOR, this.#littleEndian);
    section.setBigInt64(SECTION.sectionLength, -1n, this.#littleEndian);
    return concatenated([section, ...this.#interfaces.map((device, i) => this.#describe(device, i))]);
  }

  /**
   * Adds an interface after the header. Its number is that of the interfaces before it.
   * @returns its description, which the file has before the first frame of the interface
   * @throws EINVAL if the link type or the name do not fit the format
   */
  addInterface(device: PcapngWriterOptions["interfaces"][number]): Uint8Array {
    return inCall("PcapngWriter.addInterface", () => {
      inRange("linkType", device.linkType, 0, 0xffff);
      const block = this.#describe(device, this.#interfaces.length);
      this.#interfaces.push({ ...device });
      return new Uint8Array(block.buffer);
    });
  }

  /** The record of a frame. @throws EINVAL if its time or lengths do not fit the format */
  frame(frame: FrameToWrite): Uint8Array {
    return inCall("PcapngWriter.frame", () => {
      const { captured, wireLength } = lengthsOf(frame, Infinity);
      const interfaceId = frame.interfaceId ?? 0;
      const device = this.#interfaces[interfaceId];
      if (device === undefined) outOfRange("interfaceId", interfaceId);
      const options = this.#options(
        (frame.comments ?? []).map((text, i) => ({ code: OPTION.comment, value: text, path: `comments[${i}]` })),
      );
      if (frame.time === null && interfaceId === 0 && captured === wireLength && options.length === 0) {
        return this.#simple(frame.bytes);
      }
      const time = frame.time ?? 0n;
      if (time < 0n) outOfRange("time", time);
      const ticks = device.nanoseconds ? time : time / 1000n;
      if (ticks >> 64n !== 0n) outOfRange("time", time);

      const optionsAt = PACKET.bytes + padded(captured);
      const block = this.#block(BLOCK.enhancedPacket, optionsAt + options.length - BLOCK_HEADER.body);
      block.setUint32(PACKET.interfaceId, interfaceId, this.#littleEndian);
      block.setUint32(PACKET.timeHigh, Number(ticks >> 32n), this.#littleEndian);
      block.setUint32(PACKET.timeLow, Number(ticks & 0xffffffffn), this.#littleEndian);
      block.setUint32(PACKET.captured, captured, this.#littleEndian);
      block.setUint32(PACKET.original, wireLength, this.#littleEndian);
      const bytes = new Uint8Array(block.buffer);
      bytes.set(frame.bytes, PACKET.bytes);
      bytes.set(options, optionsAt);
      return bytes;
    });
  }

  /** Options with their end; empty without an option. */
  #options(options: readonly { code: number; value: string | Uint8Array; path: string }[]): Uint8Array {
    const parts = options.map(({ code, value, path }) => {
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
      if (bytes.length > MAX_OPTION) outOfRange(path, value);
      return optionOf(code, bytes, this.#littleEndian);
    });
    if (parts.length > 0) parts.push(optionOf(OPTION.end, new Uint8Array(), this.#littleEndian));
    return concatenated(parts);
  }

  /** A simple packet block: no time, interface 0. */
  #simple(frame: Uint8Array): Uint8Array {
    const block = this.#block(BLOCK.simplePacket, SIMPLE_PACKET.bytes - BLOCK_HEADER.body + frame.length);
    block.setUint32(SIMPLE_PACKET.original, frame.length, this.#littleEndian);
    const bytes = new Uint8Array(block.buffer);
    bytes.set(frame, SIMPLE_PACKET.bytes);
    return bytes;
  }

  #describe(device: InterfaceToWrite, index: number): DataView {
    return inCall("PcapngWriter", () => {
      const path = `interfaces[${index}].name`;
      const options = this.#options([
        ...(device.name === undefined ? [] : [{ code: OPTION.interfaceName, value: device.name, path }]),
        ...(device.nanoseconds ? [{ code: OPTION.timeResolution, value: Uint8Array.of(9), path }] : []),
      ]);
      const block = this.#block(BLOCK.interfaceDescription, INTERFACE.options - BLOCK_HEADER.body + options.length);
      block.setUint16(INTERFACE.linkType, device.linkType, this.#littleEndian);
      new Uint8Array(block.buffer).set(options, INTERFACE.options);
      return block;
    });
  }

  /** A block with a body of zeros. */
  #block(type: number, bodyLength: number): DataView {
    const length = BLOCK_HEADER.body + padded(bodyLength) + BLOCK_HEADER.trailer;
    const view = new DataView(new ArrayBuffer(length));
    view.setUint32(BLOCK_HEADER.type, type, this.#littleEndian);
    view.setUint32(BLOCK_HEADER.length, length, this.#littleEndian);
    view.setUint32(length - BLOCK_HEADER.trailer, length, this.#littleEndian);
    return view;
  }
}

function lengthsOf(frame: FrameToWrite, snapLength: number): { captured: number; wireLength: number } {
  const { bytes, wireLength = bytes.length } = frame;
  const captured = Math.min(bytes.length, snapLength);
  inRange("bytes.length", captured, 0, MAX_CAPTURE_LENGTH);
  inRange("wireLength", wireLength, bytes.length, 0xffffffff);
  return { captured, wireLength };
}

function inRange(path: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) outOfRange(path, value);
}

function outOfRange(path: string, value: unknown): never {
  refuse({ code: "EINVAL", reason: "out_of_range", path, value });
}

function concatenated(parts: readonly ArrayBufferView[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return bytes;
}
