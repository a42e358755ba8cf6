/** Planted faults of the builder and the printer. No core is built for them. */

const TESTS = ["test/packet"];

const packet = (name, id, search, replace, breaks) => {
  return { id, file: `src/packet/${name}.ts`, search, replace, breaks, sees: TESTS };
};

export const PACKET = [
  packet(
    "builder/defaults",
    "build-total-length",
    "draft.size + draft.body.length,",
    "draft.body.length,",
    "total length",
  ),
  packet(
    "builder/defaults",
    "build-payload-jumbo",
    "draft.body.length > 0xffff && draft.next",
    "draft.next",
    "payload length",
  ),
  packet(
    "builder/defaults",
    "build-extension",
    "draft.size / 8 - 1",
    "draft.size / 8",
    "the length of extension headers",
  ),
  packet("builder/checksums", "build-udp-zero", "|| 0xffff", "", "a UDP checksum that comes out as 0"),
  packet(
    "builder/checksums",
    "build-route",
    'routing.number("type") === 4 ? 4',
    'routing.number("type") === 3 ? 4',
    "where a segment route ends",
  ),
  packet(
    "builder/checksums",
    "build-route-pointer",
    "pointer <= 3 +",
    "pointer < 0 *",
    "an IPv4 route at its last address",
  ),
  packet(
    "builder/draft",
    "build-checksum-given",
    'name === "checksum" && !this.given(name)',
    'name === "checksum"',
    "a wrong checksum on request",
  ),
  packet("builder/values", "build-range", "value < 0 || value > most", "value < 0", "values that do not fit"),
  packet(
    "options",
    "option-length",
    "type, all.length + family.counted), all",
    "type, all.length), all",
    "the length of an option",
  ),
  packet("icrc", "icrc-options", "udp = 4 * (first & 15);", "udp = 20;", "the ICRC behind options of IPv4"),
  packet("icrc", "icrc-lrh", "new Uint8Array(8)", "new Uint8Array(0)", "the ones before the packet"),
  packet("icrc", "icrc-variant", "masked[0] = first | 0x0f;", "", "the traffic class in the ICRC"),
];
