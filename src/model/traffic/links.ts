/** Maps link types of captures to the header that the parser starts with, and back. */
import { Link } from "../../abi/headers.js";
import { refuse } from "../../errors.js";
import { LINK_TYPES, linkTypeName } from "../../packet/capture/linkTypes.js";

const LINKS: ReadonlyMap<number, Link> = new Map([
  [LINK_TYPES.ETHERNET, Link.ethernet],
  [LINK_TYPES.RAW, Link.raw_ip],
  [LINK_TYPES.RAW_12, Link.raw_ip],
  [LINK_TYPES.RAW_14, Link.raw_ip],
  [LINK_TYPES.IPV4, Link.ipv4],
  [LINK_TYPES.IPV6, Link.ipv6],
  [LINK_TYPES.NULL, Link.null_loopback],
  [LINK_TYPES.LOOP, Link.loop],
  [LINK_TYPES.LINUX_SLL, Link.linux_cooked],
  [LINK_TYPES.LINUX_SLL2, Link.linux_cooked_v2],
]);

/**
 * The first header of frames with this link type. @throws EOPNOTSUPP for a link type without a
 * parser
 */
export function linkOf(path: string, linkType: number): Link {
  const link = LINKS.get(linkType);
  if (link !== undefined) return link;
  const known = Object.values(LINK_TYPES).map(linkTypeName).join(", ");
  return refuse({
    code: "EOPNOTSUPP",
    reason: "bad_link_type",
    path,
    value: linkTypeName(linkType),
    hint: `known: ${known}`,
  });
}

/** A link type of frames that start with this header. */
export function linkTypeOf(link: number): number {
  for (const [linkType, one] of LINKS) if ((one as number) === link) return linkType;
  throw new RangeError(`no link type begins with ${link}`);
}

/** Whether the parser can read frames of this link type. */
export function hasParser(linkType: number): boolean {
  return LINKS.has(linkType);
}
