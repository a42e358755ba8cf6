/** The bytes as pairs of hexadecimal digits: `00ff10`, or `00 ff 10` with a blank as separator. */
export function hexOf(bytes: Iterable<number>, separator = ""): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(separator);
}
