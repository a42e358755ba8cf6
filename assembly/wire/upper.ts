/** What a network header tells the header above it. */

/** No upper-layer header to read: unknown, cut, or the payload of a later fragment. */
export const NO_PROTOCOL: u32 = 0xffffffff;

export const PROTOCOL_ICMP: u32 = 1;
export const PROTOCOL_TCP: u32 = 6;
export const PROTOCOL_UDP: u32 = 17;
export const PROTOCOL_ICMPV6: u32 = 58;

export const enum Fragment {
  whole = 0,
  first = 1,
  later = 2,
}

export namespace Upper {
  export let fragment: u32 = Fragment.whole;
  /** The network header tells where its payload ends (an IPv6 payload length of 0 does not). */
  export let lengthKnown: bool = true;
  /** What a payload length counts from: the byte behind the fixed network header. */
  export let payload: usize = 0;
}
