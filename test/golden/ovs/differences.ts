/** Permitted differences between frames of Open vSwitch and ours, with reasons. */
export const ALLOWED = {
  udp_source_port:
    "the outer UDP source port is a hash of what is inside, and each has its own (RFC 7348 section 5, RFC 8926 section 3.3)",
  udp_checksum:
    "Open vSwitch sums up the outer UDP datagram over IPv6, or where it is told to; ours stays as the data says, 0 (RFC 6935)",
  fragment_payload:
    "Open vSwitch takes payload of a later IPv4 fragment for a UDP header and changes two bytes of it as a checksum; a later fragment has no such header (RFC 791 section 3.2)",
} as const;
