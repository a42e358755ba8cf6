/** Match fields and fields of header changes: what they hold and how their values are written. */
import { matchFields, modifyFields, type FieldInfo } from "flowsteer/scenario";

const MATCH: ReadonlyMap<string, FieldInfo> = new Map(matchFields().map((one) => [one.name, one]));
const MODIFY: ReadonlyMap<string, FieldInfo> = new Map(modifyFields().map((one) => [one.name, one]));

/** A match field; undefined for other names. */
export function matchField(name: string): FieldInfo | undefined {
  return MATCH.get(name);
}

/** A field that header changes can write; undefined for other names. */
export function modifyField(name: string): FieldInfo | undefined {
  return MODIFY.get(name);
}

/** `32 bits, outer IPv4`. */
export function shortForm({ bits, header }: FieldInfo): string {
  return `${bits} ${bits === 1 ? "bit" : "bits"}, ${header}`;
}

/** What a field holds, in lines. */
export function linesOf(field: FieldInfo): string[] {
  const { bits, header, written } = field;
  const there = header.startsWith("none")
    ? `Header: ${header}.`
    : `Header: ${header}; without it the field never matches.`;
  return [`${bits} ${bits === 1 ? "bit" : "bits"}. ${there}`, `Values: ${written}.`];
}

/** Values as people write them: the examples in the form of the field. */
export function valuesOf({ written }: FieldInfo): string[] {
  const quoted = [...written.matchAll(/"[^"]*"/g)].map(([text]) => text);
  return written.startsWith("0 or 1") ? ["0", "1"] : quoted;
}
