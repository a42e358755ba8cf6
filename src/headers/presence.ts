/** Headers by presence bit. */
import { HEADER_LIST } from "./headers.js";
import type { HeaderName, HeaderRecord, Present } from "./record.js";

/** A presence word of the key. */
export type PresenceWord = keyof Present;

interface Named {
  readonly header: HeaderName;
  readonly name: string;
}

/** The header with a presence bit; undefined for bits of a part of a header, and of several headers. */
export function headerOfBit(word: PresenceWord, bit: number): Named | undefined {
  for (const [header, record] of HEADER_LIST) {
    const found = partsOf(record).find(({ present }) => present?.[word] === bit);
    if (found !== undefined) return { header, name: found.name };
  }
  return undefined;
}

function partsOf(record: HeaderRecord): readonly Pick<HeaderRecord, "name" | "present">[] {
  return [record, ...Object.values(record.variants ?? {})];
}
