/** Records of the core that operands name: programs, reformats, arrays (layouts in src/abi/engine.ts). */
import { STAGE_SIZE } from "../abi/engine.js";
import type { Core } from "./core.js";

/** The longest record, in bytes. */
export const MAX_RECORD = STAGE_SIZE;

/** Copies a record of at most MAX_RECORD bytes into the core. @returns its address, or 0 when memory is full */
export function createRecord(core: Core, record: Uint8Array): number {
  core.u8.set(record, core.staging);
  return core.exports.createRecord(record.length) >>> 0;
}

/** Frees a record of `length` bytes. */
export function releaseRecord(core: Core, address: number, bytes: number): void {
  core.exports.releaseRecord(address, bytes);
}

/** The bytes of a record, or of room: a view until the core grows. */
export function recordBytes(core: Core, address: number, bytes: number): Uint8Array {
  // The caller may write.
  core.version++;
  return core.u8.subarray(address, address + bytes);
}

/** Allocates zeroed bytes. @returns their address, or 0 when memory is full */
export function createRoom(core: Core, bytes: number): number {
  return core.exports.createCounters(Math.ceil(bytes / ROOM_UNIT)) >>> 0;
}

/** Frees allocated bytes. */
export function releaseRoom(core: Core, address: number, bytes: number): void {
  core.exports.releaseCounters(address, Math.ceil(bytes / ROOM_UNIT));
}

const ROOM_UNIT = 16;
