/** Link types that the parser knows, by their numbers in capture files (draft-ietf-opsawg-pcaplinktype). */
export const LINK_TYPES = {
  /** Address family in the byte order of the capturing host, then IP. */
  NULL: 0,
  ETHERNET: 1,
  /** IPv4 or IPv6; DLT_RAW of most systems, found in files though 101 is the registered number. */
  RAW_12: 12,
  /** The same, DLT_RAW of OpenBSD. */
  RAW_14: 14,
  /** IPv4 or IPv6, told by the version nibble. */
  RAW: 101,
  /** Address family in network byte order, then IP. */
  LOOP: 108,
  /** Linux cooked. */
  LINUX_SLL: 113,
  IPV4: 228,
  IPV6: 229,
  /** Linux cooked, version 2. */
  LINUX_SLL2: 276,
} as const;

const NAMES = new Map<number, string>(Object.entries(LINK_TYPES).map(([name, number]) => [number, name]));

/** `LINKTYPE_ETHERNET` for 1; `LINKTYPE_147` for a number without a name here. */
export function linkTypeName(linkType: number): string {
  return `LINKTYPE_${NAMES.get(linkType) ?? linkType}`;
}
