/**
 * The link types that the parser knows, by their numbers in capture files
 * (draft-ietf-opsawg-pcaplinktype).
 */
export const LINK_TYPES = {
  /** Address family in the byte order of the capturing host, then IP. */
  NULL: 0,
  ETHERNET: 1,
  /**
   * IPv4 or IPv6. This is DLT_RAW of most systems; files contain it although 101 is the registered
   * number.
   */
  RAW_12: 12,
  /** IPv4 or IPv6: DLT_RAW of OpenBSD. */
  RAW_14: 14,
  /** IPv4 or IPv6, distinguished by the version nibble. */
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

/**
 * The name of a link type: `LINKTYPE_ETHERNET` for 1, `LINKTYPE_147` for a number that is not in
 * this list.
 */
export function linkTypeName(linkType: number): string {
  return `LINKTYPE_${NAMES.get(linkType) ?? linkType}`;
}
