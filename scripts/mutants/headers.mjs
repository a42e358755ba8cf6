/** Planted faults of tunnels, labels, encryption, checksums and samples. */

const PARSE = ["test/assembly/wire/parse.test.ts"];
/** What reads where it may not. */
const FUZZ = ["test/assembly/wire/fuzz.test.ts", "test/assembly/wire/parse.test.ts"];

const gre = (...fault) => wire("gre", ...fault);
const geneve = (...fault) => wire("geneve", ...fault);
const gtpu = (...fault) => wire("gtpu", ...fault);
const gpe = (...fault) => wire("vxlanGpe", ...fault);
const mpls = (...fault) => wire("mpls", ...fault);
const esp = (...fault) => wire("esp", ...fault);
const sctp = (...fault) => wire("sctp", ...fault);
const bth = (...fault) => wire("bth", ...fault);
const macsec = (...fault) => wire("macsec", ...fault);
const checksum = (...fault) => wire("checksum", ...fault);
const sample = (...fault) => wire("sample", ...fault);
const ip = (...fault) => wire("ip", ...fault);
const parse = (...fault) => wire("parse", ...fault);

function wire(name, id, search, replace, breaks, sees = PARSE) {
  return { id, file: `assembly/wire/${name}.ts`, search, replace, breaks, sees };
}

export const HEADERS = [
  gre(
    "gre-key",
    "return flags & (CHECKSUM | ROUTING) ? 4 : 0;",
    "return flags & CHECKSUM ? 4 : 0;",
    "the key behind an offset without a checksum",
  ),
  gre("gre-size", " + (flags & SEQUENCE ? 4 : 0);", ";", "a GRE header without its sequence number"),
  gre("gre-here-key", "Cursor.tunnels |= HERE_GRE_KEY;", "", "presence of the key"),
  gre("gre-bits", "PRESENT_BITS: u32 = 0xb0", "PRESENT_BITS: u32 = 0xa0", "gre_s_present"),
  gre(
    "gre-acknowledgement",
    "if ((flags & VERSION) != 0) return size + (flags & ACKNOWLEDGEMENT ? 4 : 0);",
    "if (flags & ACKNOWLEDGEMENT) return size + 4;",
    "an acknowledgement in version 0",
  ),
  gre(
    "gre-version",
    "return (flags & VERSION) == 0 ? carried(be16(at + 2)) : 0;",
    "return carried(be16(at + 2));",
    "a packet inside version 1",
  ),
  gre(
    "gre-inner-version",
    " || (be16(at) & VERSION) != 0) return;",
    ") return;",
    "labels in version 1 inside a tunnel",
  ),
  gre(
    "gre-inner-cut",
    "if (Cursor.end - at < size || (be16(at) & VERSION) != 0) return;",
    "if ((be16(at) & VERSION) != 0) return;",
    "labels behind a cut header inside a tunnel",
    FUZZ,
  ),
  gre(
    "gre-route-end",
    "(length == 0 && load<u16>(entry) == 0)",
    "length == 0",
    "a source route ends at an empty entry",
  ),
  gre(
    "gre-route-cut",
    "if (size > had || (length == 0",
    "if ((length == 0",
    "a source route entry beyond the packet",
    FUZZ,
  ),
  gre(
    "gre-dwords",
    "tunnelDwords(at, size >> 2);",
    "tunnelDwords(at, 4);",
    "tunnel dwords that a short header lacks",
    FUZZ,
  ),

  geneve(
    "geneve-size",
    "((<usize>(first & 0x3f)) << 2)",
    "((<usize>(first & 0x1f)) << 2)",
    "more than 124 bytes of options",
  ),
  geneve("geneve-oam", ">> 7) << 24", ">> 6) << 24", "the C bit read as O"),
  geneve("geneve-version", "const known = first >> 6 == 0;", "const known = true;", "options of another version"),
  geneve(
    "geneve-option-beyond",
    "if (end - option < length) return;",
    "",
    "an option that reaches beyond the others",
    FUZZ,
  ),
  geneve(
    "geneve-option-type",
    "be32(option) >> 8 == Option0.name",
    "((be32(option) >> 8) | 0x80) == (Option0.name | 0x80)",
    "the critical bit of an option's type",
  ),
  geneve("geneve-option-step", "option += length;", "option += OPTION_SIZE;", "an option's data taken for options"),
  geneve("geneve-option-empty", "if (length == OPTION_SIZE) return;", "", "the data of an option that has none"),
  geneve(
    "geneve-option-last",
    "Cursor.tunnels |= HERE_GENEVE_OPTION_0;\n      return;",
    "Cursor.tunnels |= HERE_GENEVE_OPTION_0;",
    "the last option of a name, not the first",
  ),

  gtpu("gtpu-long", "const LONG: u32 = 7;", "const LONG: u32 = 6;", "12 bytes with PN alone"),
  gtpu("gtpu-prime", "VERSION_AND_TYPE: u32 = 0xf0", "VERSION_AND_TYPE: u32 = 0xe0", "GTP' taken for GTP"),
  gtpu(
    "gtpu-message",
    "known && whole && <u32>load<u8>(at, 1) == G_PDU",
    "known && whole",
    "a packet inside an echo request",
  ),
  gtpu(
    "gtpu-extension-size",
    "(<usize>load<u8>(at)) << 2",
    "(<usize>load<u8>(at)) << 3",
    "extension headers in 8 bytes",
  ),
  gtpu(
    "gtpu-extension-beyond",
    "if (!has(Header.gtpu_extension, size)) return false;",
    "",
    "an extension header beyond the packet",
    FUZZ,
  ),
  gtpu(
    "gtpu-extension-empty",
    "stop(Header.gtpu_extension, Stop.bad_header_length, EXTENSION_SIZE, Cursor.end - at);",
    "",
    "an extension header of length 0 stops nothing",
  ),
  gtpu("gtpu-extension-first", "first = false;", "", "the last extension header, not the first"),
  gtpu(
    "gtpu-extension-dwords",
    "tunnelDwords(at, (Cursor.at - at) >> 2);",
    "tunnelDwords(at, size >> 2);",
    "the fourth tunnel dword",
  ),

  gpe(
    "gpe-next",
    "load<u8>(at, 3), MISC3_GPE_NEXT_PROTOCOL",
    "load<u8>(at, 2), MISC3_GPE_NEXT_PROTOCOL",
    "the next protocol",
  ),
  gpe(
    "gpe-vni",
    "load<u8>(at, 6), MISC3_GPE_VNI + 2",
    "load<u8>(at, 7), MISC3_GPE_VNI + 2",
    "the last byte of the VNI",
  ),
  gpe("gpe-ethernet", "case 3:", "case 4:", "Ethernet inside VXLAN-GPE"),

  mpls("mpls-bottom", "if (load<u8>(at, 2) & BOTTOM)", "if (load<u8>(at, 3) & BOTTOM)", "the bottom of the stack"),
  mpls(
    "mpls-inner",
    "Cursor.level == LEVEL_OUTER ? MISC2_OUTER_MPLS : MISC2_INNER_MPLS",
    "MISC2_OUTER_MPLS",
    "inner labels in outer fields",
  ),
  mpls(
    "mpls-over-udp",
    "Cursor.tunnels |= HERE_MPLS_OVER_UDP;",
    "Cursor.tunnels |= HERE_MPLS_OVER_GRE;",
    "presence of labels over UDP",
  ),
  mpls(
    "mpls-over-inner-udp",
    "Cursor.here |= HERE_INNER_MPLS_OVER_UDP;",
    "Cursor.here |= HERE_INNER_MPLS_OVER_GRE;",
    "presence of labels over UDP inside a tunnel",
  ),
  mpls(
    "mpls-inner-cut",
    "if (Cursor.end - at < SIZE) return;",
    "if (Cursor.end < at) return;",
    "a label behind GRE inside a tunnel that is cut",
    FUZZ,
  ),
  mpls("mpls-cut", "if (Cursor.end - Cursor.at < SIZE) return false;", "", "a label that is cut", FUZZ),
  wire("ethernet", "mpls-multicast", " || ethertype == ETHERTYPE_MPLS_MULTICAST", "", "multicast labels"),

  esp("esp-ike", "if (had >= 4 && load<u32>(at) == 0) return;", "", "IKE over UDP read as ESP"),
  esp("esp-keep-alive", "had == 1 && Cursor.wireEnd - at == 1", "had == 1", "a cut packet taken for a keep-alive"),
  esp(
    "esp-spi",
    "outer ? MISC_OUTER_ESP_SPI : MISC_INNER_ESP_SPI",
    "MISC_OUTER_ESP_SPI",
    "the inner SPI in the outer field",
  ),
  esp("esp-here", "Cursor.here |= HERE_ESP;", "", "presence of ESP"),

  sctp("sctp-size", "const SIZE: usize = 12;", "const SIZE: usize = 8;", "an SCTP header cut behind eight bytes"),
  sctp(
    "sctp-inner",
    "Cursor.level == LEVEL_OUTER ? EXT_OUTER_SCTP_PORTS : EXT_INNER_SCTP_PORTS",
    "EXT_OUTER_SCTP_PORTS",
    "inner ports in the outer field",
  ),
  sctp("sctp-here", "Cursor.here |= HERE_SCTP;", "", "presence of SCTP"),

  bth("bth-inner", "if (Cursor.level != LEVEL_OUTER) return;", "", "an inner BTH fills the outer's fields"),
  bth("bth-qp", "load<u16>(at, 5), MISC_BTH_DST_QP", "load<u16>(at, 4), MISC_BTH_DST_QP", "the destination queue pair"),
  bth(
    "bth-acknowledge",
    "load<u8>(at, 8) & ACKNOWLEDGE",
    "load<u8>(at, 1) & ACKNOWLEDGE",
    "the acknowledge request bit",
  ),

  macsec("macsec-channel", "const SC: u32 = 0x20;", "const SC: u32 = 0x10;", "the bit that says there is an SCI"),
  macsec("macsec-inner", "if (Cursor.level != LEVEL_OUTER) return;", "", "an inner SecTAG fills the outer's fields"),
  macsec(
    "macsec-number",
    "load<u32>(at, 2), MISC5_MACSEC_TAG + 4",
    "load<u32>(at, 1), MISC5_MACSEC_TAG + 4",
    "the packet number",
  ),
  macsec("macsec-cut", "if (!has(Header.macsec, size)) return;", "", "an SCI that is cut", FUZZ),

  checksum("checksum-length", " + <u64>bswap(<u32>length)", "", "a pseudo header without the length"),
  checksum(
    "checksum-odd",
    "return length & 1 ? total + <u64>load<u8>(at) : total;",
    "return total;",
    "the odd byte at the end",
  ),
  checksum("checksum-lane", " + <u64>i64x2.extract_lane(pairs, 1)", "", "half the lanes of a long sum"),
  checksum("checksum-word", "total += <u64>load<u16>(at);", "", "the last two bytes of a sum"),
  checksum("checksum-fragment", "Upper.fragment == Fragment.whole && ", "", "fragments verified"),
  checksum("checksum-cut", "if (Cursor.end == Cursor.wireEnd) verify(", "verify(", "a cut segment verified", FUZZ),
  checksum("checksum-udp-length", "if (length > Cursor.end - at) return;", "", "a cut datagram verified", FUZZ),
  checksum(
    "checksum-udp-none",
    "load<u8>(Upper.header) >> 4 == 4 && checkable()",
    "checkable()",
    "UDP over IPv6 without a checksum",
  ),
  checksum("checksum-route", " && !underWay()", "", "a source route under way"),
  checksum(
    "checksum-route-pointer",
    "<usize>load<u8>(option, 2) <= length",
    "<usize>load<u8>(option, 2) < length",
    "a pointer at the end of its route",
  ),
  checksum(
    "checksum-option-length",
    "if (length < 2 || end - option < length) return false;",
    "if (length < 2) return false;",
    "a source route beyond the header",
  ),
  checksum(
    "checksum-inner",
    "(wanted & WANT_INNER_L4_CHECKSUM ? CHECK_L4 : 0)",
    "(wanted & WANT_OUTER_L4_CHECKSUM ? CHECK_L4 : 0)",
    "inner checksums verified where outer ones are wanted",
    FUZZ,
  ),
  wire("ipv6", "routed-before", "Upper.routed = false;", "", "the routing header of the packet before"),

  sample(
    "sample-level",
    "<u32>load<u16>(entry) == (header | (level << 8))",
    "<u32>load<u8>(entry) == header",
    "the first header of any level",
  ),
  sample("sample-beyond", "at + VALUE_SIZE > end", "at >= end", "a sample across the end of the packet", FUZZ),
  sample(
    "sample-port",
    "Cursor.frame + <usize>udp + 2",
    "Cursor.frame + <usize>udp",
    "the UDP source port of a sample",
  ),
  sample(
    "sample-end",
    "level == LEVEL_OUTER ? MAP_PAYLOAD_END : MAP_INNER_PAYLOAD_END",
    "MAP_PAYLOAD_END",
    "inner samples behind the inner packet",
  ),

  ip("nibble-cut", "short(Header.ip, 1);", "return 0;", "what the capture cut behind a label"),
  ip("nibble-wrap", "Cursor.wireEnd != at", "Cursor.wireEnd > at", "a packet that ends beyond the last address"),
  ip(
    "nibble-other",
    "version == 4 ? ETHERTYPE_IPV4 : version == 6 ? ETHERTYPE_IPV6 : 0",
    "version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6",
    "payload that is no IP",
  ),
  ip("nibble-raw", "if (ethertype == 0) stop(", "if (false) stop(", "raw IP of no version"),

  parse(
    "ports",
    "port - PORT_GTPU <= PORT_MPLS - PORT_GTPU",
    "port - PORT_GTPU < PORT_MPLS - PORT_GTPU",
    "the last known UDP port",
  ),
  parse("inner-esp-in-udp", "if (port == PORT_ESP) espInUdp();\n    else if", "if", "ESP over UDP in the inner packet"),
  parse(
    "ip-in-ip",
    "case PROTOCOL_IPV6:\n      return ETHERTYPE_IPV6;",
    "case PROTOCOL_IPV6:\n      return ETHERTYPE_IPV4;",
    "IPv6 in IP",
  ),
  parse(
    "zeroing-misc",
    "Key.misc = clear(key, GROUP_MISC);",
    "Key.misc = key;",
    "the GRE bits of the frame before",
    FUZZ,
  ),
  parse("samples", "if (wanted & (1 << GROUP_MISC4)) fillSamples(map);", "", "samples"),
  wire("cursor", "tunnel-dwords", "min<usize>(count, 4)", "min<usize>(count, 5)", "a fifth tunnel dword", FUZZ),
];
