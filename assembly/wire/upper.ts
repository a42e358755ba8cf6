/**
 * State that a network header passes to the upper layer: protocol, fragment state, known length.
 */

/** There is no upper-layer header to read: unknown, cut, or the payload of a later fragment. */
export const NO_PROTOCOL: u32 = 0xffffffff;

export const PROTOCOL_ICMP: u32 = 1;
export const PROTOCOL_IPV4: u32 = 4;
export const PROTOCOL_TCP: u32 = 6;
export const PROTOCOL_UDP: u32 = 17;
export const PROTOCOL_IPV6: u32 = 41;
export const PROTOCOL_GRE: u32 = 47;
export const PROTOCOL_ESP: u32 = 50;
export const PROTOCOL_ICMPV6: u32 = 58;
export const PROTOCOL_SCTP: u32 = 132;

export const enum Fragment {
  whole = 0,
  first = 1,
  later = 2,
}

export namespace Upper {
  /** The address of the network header, for pseudo headers. */
  export let header: usize = 0;
  /** The address of the final destination of an IPv6 packet; 0 where a routing header leaves it open. */
  export let destination: usize = 0;
  export let fragment: u32 = Fragment.whole;
  /**
   * Whether the network header gives the end of its payload (an IPv6 payload length of 0 does not).
   */
  export let lengthKnown: bool = true;
  /** The origin of payload lengths: the byte after the fixed network header. */
  export let payload: usize = 0;
}
