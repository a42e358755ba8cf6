/** Maps fields of headers to match fields and back. */
import { HEADER_LIST, type HEADERS } from "./headers.js";
import type { HeaderName, HeaderRecord, HeaderVariant, MatchFields } from "./record.js";

/** Names of match fields in a text. */
export const MATCH_FIELDS = /\b(?:outer|inner|misc\d?|ext)\.\w+/g;

export type Level = "outer" | "inner";

/** A header with match fields of its own: the second tag, and labels over GRE and UDP, have others than the first of their kind. */
export type WireHeader = HeaderName | keyof typeof HEADERS.vlan.variants | keyof typeof HEADERS.mpls.variants;

/** A field of a header. */
export interface FieldPlace {
  readonly header: WireHeader;
  readonly level: Level;
  readonly field: string;
}

type Facts = Pick<HeaderRecord & HeaderVariant, "match" | "innerMatch" | "reads">;

const KINDS = /* @__PURE__ */ HEADER_LIST.flatMap(([name, record]) =>
  [[name, record] as const, ...Object.entries(record.variants ?? {})].map(
    ([kind, facts]) => [kind as WireHeader, facts as Partial<Facts>, name] as const,
  ),
);

/** The kind of a header: `vlan` of `vlan2`. */
export function plainHeader(header: WireHeader): HeaderName {
  return KINDS.find(([kind]) => kind === header)?.[2] ?? "none";
}

function named(fields: MatchFields | undefined, level: Level): [wire: string, match: string][] {
  return Object.entries(fields ?? {}).flatMap(([wire, match]): [string, string][] => {
    if (match.includes("*")) return [[wire, match.replace("*", level)]];
    return level === "outer" ? [[wire, match]] : [];
  });
}

/** Match fields with the same bits as a header, each with its field or its first bit in the header. */
export function matchFieldsOf(level: Level, header: WireHeader): readonly [wire: string, match: string][] {
  const { match, innerMatch }: Partial<Facts> = KINDS.find(([kind]) => kind === header)?.[1] ?? {};
  return level === "inner" && innerMatch !== undefined ? Object.entries(innerMatch) : named(match, level);
}

/** Each field with the match field that copies it or follows from it. */
const PLACES = /* @__PURE__ */ (["outer", "inner"] as const).flatMap((level) =>
  KINDS.flatMap(([header, { reads }]) =>
    [...matchFieldsOf(level, header), ...named(reads, level)].map(([field, match]) => ({
      match,
      header,
      level,
      field,
    })),
  ),
);

/** The fields that a match field can read; if a frame has several, the last one counts. */
export function placesOf(match: string): readonly FieldPlace[] {
  return PLACES.filter((place) => place.match === match && Number.isNaN(Number(place.field)));
}

/** Fields that stand in several headers. */
const KIND_WORDS: Readonly<Record<string, string>> = {
  ip_version: "IP version",
  ip_protocol: "IP protocol",
  ip_dscp: "DSCP",
  ip_ecn: "ECN",
  ip_ttl_hoplimit: "TTL",
  frag: "fragment",
  l4_checksum_ok: "L4 checksum",
  ethertype: "EtherType",
};

/** What a match field is called of a frame: `udp source_port`, `inner IP version`; the match field itself where no header has it. */
export function frameWords(match: string): string {
  const [level, name = ""] = match.split(".");
  const kind = KIND_WORDS[name];
  const [place] = placesOf(match);
  if (kind === undefined && place === undefined) return match;
  const words = kind ?? `${plainHeader(place!.header)} ${place!.field}`;
  return (place?.level ?? level) === "inner" ? `inner ${words}` : words;
}

/** The match field that reads a field of a header; undefined if there is none. */
export function matchFieldAt(header: WireHeader, level: string, field: string): string | undefined {
  return PLACES.find((place) => place.header === header && place.level === level && place.field === field)?.match;
}

interface ListedHeader {
  readonly header: string;
  readonly level: string;
}

/** Which header of the key the n-th header of a frame is; undefined if the key has no fields for it, such as a third tag. */
export function wireHeaderAt(headers: readonly ListedHeader[], n: number): WireHeader | undefined {
  const { header, level } = headers[n] as ListedHeader;
  const before = headers[n - 1]?.header;
  if (header === "vlan") {
    const tags = headers.slice(0, n).filter((one) => one.header === "vlan" && one.level === level).length;
    return (["vlan", "vlan2"] as const)[tags];
  }
  if (header !== "mpls") return header as HeaderName;
  if (before === "mpls") return undefined;
  return before === "gre" || before === "udp" ? `mpls_over_${before}` : header;
}

/** The index of the header that has a field; -1 if none has it. */
export function headerAt(headers: readonly ListedHeader[], { header, level }: FieldPlace): number {
  return headers.findLastIndex((one, n) => one.level === level && wireHeaderAt(headers, n) === header);
}
