/** Bits and fields of match parameters in device bytes; bit 0 is the most significant bit of byte 0. */
import { DEVICE_KEY_SIZE } from "../../abi/key.js";
import { FIELDS, type Field } from "../../model/match/fields.js";

const DEVICE_FIELDS: readonly Field[] = FIELDS.filter(({ bit }) => bit < DEVICE_KEY_SIZE * 8);

/** The fields that have a bit in device bytes; of fields that share bits, the first. */
export function fieldsIn(bytes: Uint8Array): Field[] {
  const rest = bytes.slice();
  return DEVICE_FIELDS.filter((field) => {
    if (!hasBits(rest, field)) return false;
    clear(rest, field.bit, field.width);
    return true;
  });
}

export function anyBit(bytes: Uint8Array, bit: number, width: number): boolean {
  for (let at = bit; at < bit + width; at++) if (((bytes[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0) return true;
  return false;
}

export function hasBits(bytes: Uint8Array, { bit, width }: Field): boolean {
  return anyBit(bytes, bit, width);
}

export function setBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7));
}

export function clear(bytes: Uint8Array, bit: number, width: number): void {
  for (let at = bit; at < bit + width; at++) bytes[at >> 3] = (bytes[at >> 3] as number) & ~(0x80 >> (at & 7));
}

export function fill(bytes: Uint8Array, { bit, width }: Field): void {
  for (let at = bit; at < bit + width; at++) setBit(bytes, at);
}

/** Puts a number into bits that are 0. */
export function putNumber(bytes: Uint8Array, bit: number, width: number, number: number): void {
  for (let n = 0; n < width; n++) if (((number >>> (width - 1 - n)) & 1) === 1) setBit(bytes, bit + n);
}

/** Copies the bits of a field that are set. */
export function copyBits(into: Uint8Array, from: Uint8Array, { bit, width }: Field): void {
  for (let at = bit; at < bit + width; at++) if (anyBit(from, at, 1)) setBit(into, at);
}
