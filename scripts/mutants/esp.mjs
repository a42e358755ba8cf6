/** Planted faults of ESP actions: where ESP is, what is written around it, windows, bursts, inline crypto, and the host's part. */

const AGREE = ["test/assembly/esp/golden.node.test.ts", "test/assembly/esp/agree.test.ts"];
const INLINE = ["test/assembly/esp/golden.node.test.ts", "test/assembly/esp/inlineAgree.test.ts"];
const WINDOW = ["test/verbs/esp/replayWindow.test.ts", "test/assembly/esp/agree.test.ts"];
const REFUSED = ["test/verbs/esp/refused.test.ts"];
const MODIFY = ["test/verbs/esp/modify.test.ts"];
const MEMORY = ["test/verbs/esp/memory.test.ts"];

const at = (sees) => (file, id, search, replace, breaks) => {
  const path = file.startsWith("esp") ? `src/model/${file}.ts` : `assembly/esp/${file}.ts`;
  return { id: `esp-${id}`, file: path, search, replace, breaks, sees };
};

const packet = at(AGREE);
const inline = at(INLINE);
const window = at(WINDOW);
const refused = at(REFUSED);
const modify = at(MODIFY);
const memory = at(MEMORY);

export const ESP = [
  packet("find", "find-later", " || Packet.later) return false;", ") return false;", "fragments behind the first"),
  packet("find", "find-port", "be16(at + Packet.next + 2)", "be16(at + Packet.next)", "the port that says ESP"),
  packet("find", "find-least", "Found.esp + LEAST <= end", "Found.esp + LEAST < end", "ESP of 8 bytes alone"),

  packet(
    "packet",
    "options-of-routing",
    "next == DESTINATION && behind != ROUTING",
    "next == DESTINATION",
    "destination options in front of a routing header",
  ),
  packet("packet", "first-fragment", "const PARTS: u32 = 0x3fff;", "const PARTS: u32 = 0x1fff;", "first fragments"),
  packet(
    "packet",
    "cut-ipv4",
    "total < size || Packet.ip + total > captured ? 0",
    "total < size ? 0",
    "IPv4 packets that were cut",
  ),
  packet("packet", "jumbo", "payload == 0 || end > captured", "end > captured", "IPv6 packets without a length"),
  packet("packet", "stale-checksum", "  store<u16>(ip, 0, 10);\n", "", "the checksum of the changed header"),
  packet(
    "packet",
    "cooked-v2",
    "size == COOKED_V2_SIZE ? start : start + size - 2",
    "start",
    "tags behind a cooked header",
  ),
  packet(
    "packet",
    "end-in-headers",
    "  if (Packet.end < Packet.next) Packet.end = 0;\n",
    "",
    "IPv6 shorter than its headers",
  ),

  packet("encrypt", "padding-from-0", "<u8>(n + 1)", "<u8>n", "the bytes of padding"),
  packet(
    "encrypt",
    "tfc-inside",
    "protocol == PROTOCOL_UDP || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6",
    "protocol == PROTOCOL_UDP",
    "TFC padding behind a packet in transport mode",
  ),
  packet("encrypt", "tfc-unclear", "  memory.fill(data + length, 0, tfc);\n", "", "TFC padding that is 0"),
  packet("encrypt", "fragments-in-tunnels", "if (transport && Packet.fragment)", "if (Packet.fragment)", "fragments"),
  window(
    "encrypt",
    "limit-and-one",
    "load<u64>(association, ESP_PACKETS) >= limit",
    "load<u64>(association, ESP_PACKETS) > limit",
    "the hard limit of sealed packets",
  ),
  window(
    "encrypt",
    "number-again",
    "  if (number == last) up |= ESP_UP_NUMBERS;\n  else store",
    "  store",
    "the end of sequence numbers",
  ),
  window(
    "encrypt",
    "short-numbers",
    "u64.MAX_VALUE : u32.MAX_VALUE",
    "u64.MAX_VALUE : u64.MAX_VALUE",
    "numbers without ESN",
  ),
  window("encrypt", "iv-again", "if (iv == u64.MAX_VALUE)", "if (false)", "the end of IVs"),

  packet(
    "decrypt",
    "encapsulation",
    "  if (Found.udp != hasUdp(association)) return false;\n",
    "",
    "UDP that is not asked for",
  ),
  packet(
    "decrypt",
    "any-version",
    "return transport || Packet.version == <u32>load<u8>(association, ESP_VERSION);",
    "return true;",
    "the IP version of a tunnel",
  ),
  packet("decrypt", "congestion", "  if ((value & ECN) == 0) return;\n", "", "packets that cannot be marked"),
  packet(
    "decrypt",
    "mark-checksum",
    "  setTraffic(ip, version, value | CE);\n  setLength(ip, version, length);\n",
    "  setTraffic(ip, version, value | CE);\n",
    "the checksum of a marked packet",
  ),
  packet(
    "decrypt",
    "dummy",
    "  if (next == PROTOCOL_NONE) return drop(branch, Reason.esp_dummy);\n",
    "",
    "dummy packets",
  ),
  packet(
    "decrypt",
    "tfc-delivered",
    "length == 0 ? available : length;",
    "available;",
    "TFC padding that is taken off",
  ),
  packet(
    "decrypt",
    "unknown-trailer",
    "  windowNote(association, Opening.number);\n",
    "  if (!isTrailer(headerOf(branch) + ESP_HEADER, sealedLength(association))) return drop(branch, Reason.esp_trailer);\n" +
      "  windowNote(association, Opening.number);\n",
    "authentic packets that count though their trailer is bad",
  ),
  window(
    "decrypt",
    "note-first",
    "  return open(SINGLE_JOB) ?",
    "  windowNote(association, Opening.number);\n  return open(SINGLE_JOB) ?",
    "forged packets, which leave the window as it is",
  ),
  window(
    "decrypt",
    "limit-opened",
    "ESP_PACKETS) >= limit",
    "ESP_PACKETS) > limit",
    "the hard limit of opened packets",
  ),
  window(
    "decrypt",
    "below-zero",
    "  if (extended && isBelowZero(association, low)) return Reason.esp_replay;\n",
    "",
    "numbers that would be below 0",
  ),
  window(
    "decrypt",
    "burst-replay",
    "  findEsp(branch, hasUdp(association));\n  const why = unwelcome(branch, association);\n  if (why != Reason.none) return drop(branch, why);\n",
    "  findEsp(branch, hasUdp(association));\n  unwelcome(branch, association);\n",
    "replays in one burst",
  ),
  window("decrypt", "burst-forged", "load<u8>(job, JOB_GOOD) ?", "true ?", "forged packets of a burst"),
  window(
    "decrypt",
    "burst-number",
    "  if (Opening.number != load<u64>(job, JOB_NUMBER)) return decrypt(branch, association);\n",
    "",
    "numbers that packets of the same burst lead to",
  ),

  packet(
    "trailer",
    "pad-first",
    "let n: u32 = 0; n < padding",
    "let n: u32 = 1; n < padding",
    "the first byte of padding",
  ),
  window(
    "window",
    "window-edge",
    "top - number >= <u64>size",
    "top - number > <u64>size",
    "the oldest number of a window",
  ),
  window("window", "jump-edge", "top > MAX_SHIFT", "top >= MAX_SHIFT", "the longest jump"),
  window("window", "ring-once", "<u64>mask + 1)", "<u64>mask)", "jumps over the whole ring"),
  window(
    "window",
    "upper-edge",
    "if (<u32>top >= reach)",
    "if (<u32>top > reach)",
    "a window that begins with an upper half",
  ),
  window(
    "window",
    "upper-next",
    "if (low < bottom) upper++;",
    "if (low <= bottom) upper++;",
    "the upper half of the oldest number",
  ),
  window(
    "window",
    "upper-before",
    "else if (low >= bottom)",
    "else if (low > bottom)",
    "the upper half of the oldest before",
  ),

  packet("outer", "ecn-lost", "? 0xff : ECN;", "? 0xff : 0;", "ECN of the outer header"),
  packet("outer", "label-lost", "0xf00f", "0xf000", "the flow label"),
  inline(
    "metadata",
    "asked-where",
    "load<u8>(at, CONTENT + 4)",
    "load<u8>(at, CONTENT + 3)",
    "the next header that is said",
  ),
  inline("metadata", "asked-what", " || load<u8>(at, SYNDROME) != ESP_TO_ENCRYPT", "", "elements that ask for nothing"),
  inline(
    "metadata",
    "told-why",
    "how == ESP_BAD_ICV ? ESP_AUTH_FAILED : ESP_BAD_PROTOCOL",
    "ESP_AUTH_FAILED",
    "what is said of a bad trailer",
  ),
  inline("inline", "esn-edge", "low < 0x80000000", "low <= 0x80000000", "the ESN of a new window"),
  inline(
    "inline",
    "bad-changed",
    "  store<u32>(frame, before, FRAME_ADDRESS);\n",
    "",
    "bad packets that stay as they came",
  ),
  inline("inline", "spi-of-last", "  Opened.spi = 0;\n", "", "the SPI of a packet that is none"),
  inline("inline", "udp-length", "  if (Found.udp) fillUdp(", "  if (false) fillUdp(", "the length of UDP around ESP"),
  inline(
    "inline",
    "looks-tcp",
    "header >= 20 && header <= length",
    "header >= 20",
    "payload that only begins like TCP",
  ),

  packet("job", "aad-8", "store<u16>(job, 12, JOB_AAD_LENGTH)", "store<u16>(job, 8, JOB_AAD_LENGTH)", "AAD with ESN"),
  packet(
    "job",
    "aad-order",
    "store<u32>(job, bswap(high), JOB_SCRATCH + 4)",
    "store<u32>(job, high, JOB_SCRATCH + 4)",
    "ESN in AAD",
  ),

  modify(
    "espAction",
    "staging-kept",
    "      u8.fill(0, staging, staging + ESP_SIZE);\n",
    "",
    "the salt, which is overwritten",
  ),
  memory(
    "espAction",
    "holds-kept",
    "      if (holds !== null) release(device, holds, null);\n",
    "",
    "memory when creation fails",
  ),
  modify("espAction", "still-up", "  if (number !== null) up &= ~ESP_UP_NUMBERS;\n", "", "numbers that are set anew"),
  modify(
    "espAction",
    "packets-of-key",
    "rekeyed && isNewKey(settings, before) ? 0n",
    "rekeyed ? 0n",
    "packets of the same key",
  ),
  modify(
    "espAction",
    "seen-before",
    "window.begin(number, packets > 0n)",
    "window.begin(number)",
    "the number before a new window",
  ),
  modify("espAction", "window-kept", "  else if (had.window !== window)", "  else", "a window that stays"),
  modify("espChecks", "iv-next", "settings.iv >= next", "settings.iv > next", "the next IV, which is free"),
  refused("espChecks", "window-most", "window <= MAX_WINDOW", "window < MAX_WINDOW", "the largest window"),
  refused(
    "espChecks",
    "stack-order",
    "  offloaded,\n  flagsTaken,\n",
    "  flagsTaken,\n  offloaded,\n",
    "which refusal comes first",
  ),
  refused(
    "espChecks",
    "later-fields",
    "  if (!more) return undefined;\n",
    "  if (!more || len > 0) return undefined;\n",
    "fields of a later library",
  ),
  refused(
    "espChecks",
    "flags-asked",
    "& modifyFlags & ~ESP_NEW_WINDOW",
    "& ~ESP_NEW_WINDOW",
    "flags that are not asked on modify",
  ),
  refused(
    "espHeaders",
    "label-bits",
    "return label < FLOW_LABEL_END",
    "return label <= FLOW_LABEL_END",
    "flow labels of 21 bits",
  ),
  refused(
    "espHeaders",
    "link-twice",
    "    step++;\n    const { known }",
    "    const { known }",
    "chains with a header twice",
  ),
  packet(
    "espHeaders",
    "port-0",
    'udp.number("src_port") || UDP_ENCAPSULATION',
    'udp.number("src_port")',
    "the port of UDP that is not said",
  ),
  memory(
    "espHolds",
    "cipher-kept",
    "  if (cipher !== had?.cipher) releaseCipher(core, cipher);\n",
    "",
    "a cipher without its window",
  ),
  memory(
    "espHolds",
    "cipher-gone",
    "  if (cipher !== kept?.cipher) releaseCipher",
    "  releaseCipher",
    "a cipher that stays",
  ),
  modify("espWindow", "ring-small", "Math.ceil(size / WORD) + 1", "Math.ceil(size / WORD)", "the word that is cleared"),
  modify(
    "espWindow",
    "follows-unknown",
    "Math.min(this.size, old.size)",
    "this.size",
    "numbers that the old window did not know",
  ),
  memory(
    "espWindow",
    "ring-kept",
    "this.address, this.#bits / 8);\n  }\n\n  /** From",
    "this.address, this.size / 8);\n  }\n\n  /** From",
    "the room of a window",
  ),
  modify(
    "espSettings",
    "salt-is-new",
    " || !isEqual(settings.keymat.salt, before.keymat.salt)",
    "",
    "IVs of another salt",
  ),
  packet(
    "espWindow",
    "first-refused",
    "bit === from || bit % WORD !== 0",
    "bit % WORD !== 0",
    "the first number of a word",
  ),
  packet(
    "espRecord",
    "up-forgotten",
    "  view.setUint8(ESP_UP, counts.up);\n",
    "",
    "what is used up, when another part changes",
  ),
];
