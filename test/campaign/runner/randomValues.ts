/** The random values that devices draw: the same for each, so that an input fails again as it failed. */
import { Random } from "../../oracle/generate/random.js";

export function repeatRandomValues(): void {
  crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
    if (array === null) return array;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    bytes.set(new Random(1).bytes(bytes.length));
    return array;
  };
}
