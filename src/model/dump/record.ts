/** A dump record: its columns, and the numbers that name objects. */

/** Receives a piece of text. */
export type Write = (text: string) => unknown;

interface Numbers {
  readonly of: WeakMap<object, number>;
  last: number;
}

export const NUMBERS = new WeakMap<object, Numbers>();

/** The number of an object, the same in all dumps of a device. */
export function idOf(device: object, object: object): string {
  let numbers = NUMBERS.get(device);
  if (numbers === undefined) NUMBERS.set(device, (numbers = { of: new WeakMap(), last: 0 }));
  let number = numbers.of.get(object);
  if (number === undefined) numbers.of.set(object, (number = ++numbers.last));
  return hex(number);
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

export function writeLine(write: Write, type: number, ...columns: readonly (string | number)[]): void {
  write(`${[type, ...columns].join(",")}\n`);
}
