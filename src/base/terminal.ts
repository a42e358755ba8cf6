/** Text from files and programs, safe for terminals. */

/** Control characters (C0, DEL, C1), and those that change the direction of text or break lines. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The text with its control characters escaped: `\x1b`, `\u202e`. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (one) => {
    const code = one.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** A record of plain objects, lists and scalars with all its texts made printable. */
export function printableRecord<T>(record: T): T {
  if (typeof record === "string") return printable(record) as T & string;
  if (Array.isArray(record)) return record.map(printableRecord) as T & unknown[];
  if (typeof record !== "object" || record === null || Object.getPrototypeOf(record) !== Object.prototype)
    return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, printableRecord(value)])) as T;
}
