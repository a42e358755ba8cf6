/** Annotated captures that tshark has read (test/golden/comments.json): the operands of `flowsteer run`. */
export const COMMENT_CASES: readonly (readonly string[])[] = [
  ["examples/everyday.json", "examples/everyday.pcap"],
  ["examples/everyday.json", "odd.pcapng"],
  ["examples/everyday.json", "test/captures/nanosecs_big_endian.pcap", "test/captures/test202.pcapng"],
  ["examples/flows-strongswan.json", "examples/strongswan.pcap"],
  ["examples/flows-sending.json"],
  ["examples/rules-mirror.json"],
  ["examples/state-meter.json"],
];
