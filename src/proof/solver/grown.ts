/** A copy of an array with room for an index, and as much again. */
export function grown<Numbers extends Int8Array | Int32Array | Float64Array>(array: Numbers, index: number): Numbers {
  const make = array.constructor as new (length: number) => Numbers;
  const larger = new make(Math.max(64, 2 * (index + 1)));
  larger.set(array);
  return larger;
}
