/**
 * Packet reformats (docs/rules.md, "Packet reformat"): their types and the record that the core carries one out by.
 *
 *     0      1            2         3   4      6           8            10    16
 *     | type | IP version | entropy | 0 | data | IP header | UDP header | 0 6 | data ...
 *
 * `data` is the number of bytes in front of the frame. `IP header` and `UDP header` are the offsets in that data of the
 * headers whose lengths and checksum the core fixes up; 0 says that there is none, as does an `IP version` of 0.
 * `entropy` is 1 where the core makes the UDP source port from the packet inside.
 *
 * Both compilers read this file: numeric constants only, no imports.
 */

/** `enum mlx5dv_flow_action_packet_reformat_type` */
export const L2_TUNNEL_TO_L2 = 0;
export const L2_TO_L2_TUNNEL = 1;
export const L3_TUNNEL_TO_L2 = 2;
export const L2_TO_L3_TUNNEL = 3;

export const REFORMAT_TYPE = 0;
export const REFORMAT_VERSION = 1;
export const REFORMAT_ENTROPY = 2;
export const REFORMAT_LENGTH = 4;
export const REFORMAT_IP = 6;
export const REFORMAT_UDP = 8;
export const REFORMAT_DATA = 16;
/** The longest data of a reformat, in bytes. */
export const MAX_REFORMAT = 1024;
