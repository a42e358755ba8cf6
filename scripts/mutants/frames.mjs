/** Planted faults of the way from bytes to outcome: the parser of plain frames. */

const plain = (id, search, replace, breaks, sees = ["test/assembly/wire/fastPath.test.ts"]) => {
  return { id: `plain-${id}`, file: "assembly/wire/fastPath.ts", search, replace, breaks, sees };
};

export const FRAMES = [
  plain("link", "|| <u32>load<u8>(descriptor, FRAME_LINK) != Link.ethernet", "", "frames without Ethernet"),
  plain("checks", "  WANT_OUTER_L4_CHECKSUM |\n", "", "checksums that rules ask for", [
    "test/assembly/wire/fuzz.test.ts",
  ]),
  plain("short", "FRAME_LENGTH) < SHORTEST", "FRAME_LENGTH) < ETHERNET_SIZE", "frames cut in front of IP"),
  plain("more-fragments", "0xff3f0000000000ff", "0xff1f0000000000ff", "first fragments"),
  plain("offset", "0xff3f0000000000ff", "0x003f0000000000ff", "later fragments"),
  plain(
    "ihl",
    "0x45;\nconst WHOLE_IPV4_MASK: u64 = 0xff3f0000000000ff",
    "0x40;\nconst WHOLE_IPV4_MASK: u64 = 0xff3f0000000000f0",
    "IPv4 options",
  ),
  plain(
    "version-6",
    "if ((word & VERSION_MASK) != VERSION_6) return false;",
    "",
    "a version that is not the EtherType's",
  ),
  plain(
    "beyond",
    "if (total > load<u32>(descriptor, FRAME_WIRE_LENGTH) - at) return false;",
    "",
    "lengths that cannot be",
  ),
  plain("cut", "min(total, load<u32>(descriptor, FRAME_LENGTH) - at)", "total", "payload that was not captured"),
  plain(
    "padding",
    "min(total, load<u32>(descriptor, FRAME_LENGTH) - at)",
    "load<u32>(descriptor, FRAME_LENGTH) - at",
    "padding",
  ),
  plain("tcp-cut", "    if (end < size + TCP_SIZE) return false;\n", "", "TCP headers that are cut"),
  plain("udp-cut", "    if (end < size + UDP_SIZE) return false;\n", "", "UDP headers that are cut"),
  plain("data-offset", "payload < size + TCP_SIZE || ", "", "data offsets below 5"),
  plain("tcp-options", " || payload > end", "", "TCP options that are cut"),
  plain("udp-short", "length < UDP_SIZE || ", "", "UDP lengths below 8"),
  plain("udp-long", "length > total - size || ", "", "UDP lengths beyond the packet"),
  plain("esp", "    case PORT_ESP:\n", "", "ESP over UDP"),
  plain("roce", "    case PORT_ROCE:\n", "", "RoCE"),
  plain("last-port", "<= PORT_MPLS - PORT_GTPU", "< PORT_MPLS - PORT_GTPU", "labels over UDP"),
  plain("first-port", "port - PORT_GTPU <= PORT_MPLS - PORT_GTPU", "port > PORT_GTPU && port <= PORT_MPLS", "GTP-U"),
  plain("ninth-flag", "0xff01", "0xff00", "the ninth TCP flag"),
  plain("traffic-class", "(first & 0xf000) >> 4", "(first & 0x7000) >> 4", "a bit of the traffic class"),
  plain("reserved-flag", "(word >> 48)) & 0xc0", "(word >> 48)) & 0x40", "the reserved flag of IPv4"),
  plain("flow-label", "0xffff0f00", "0xffffff00", "flow labels"),
  plain("tag-state", "tagged ? STATE_CVLAN << 16 : 0", "0", "that a frame has a tag"),
  plain("tag-here", " | (tagged ? HERE_VLAN : 0)", "", "the presence of a tag"),
  plain("tag-type", "(source & SIX) | ((<u64>type) << 48)", "source", "the EtherType behind a tag"),
  plain("side", "== VPORT_UPLINK ? SIDE_WIRE : SIDE_FUNCTION", "== VPORT_UPLINK ? SIDE_FUNCTION : SIDE_WIRE", "sides"),
  plain("port-16", "port < 16 ? port", "port < 17 ? port", "ports that four bits do not hold"),
  plain(
    "stale",
    "    writeGroup(key + MISC, head, i32x4.replace_lane(zero, 3, flowLabel), zero);",
    "    v128.store(key + MISC, head);",
    "what a frame before had",
  ),
  plain("map-stop", "  store<u64>(map, 0, 8);\n", "", "the stop of a frame before"),
];
