/**
 * Counters, and records of stateful actions (meters), random ones (samplers) and RSS (docs/state.md, docs/queues.md).
 *
 * Both compilers read this file: numeric constants only, no imports.
 */

/** A counter: | packets 8 | bytes 8 |. */
export const COUNTER_PACKETS = 0;
export const COUNTER_BYTES = 8;
export const COUNTER_SIZE = 16;

/**
 * A meter (docs/state.md):
 *     0     1       2       3    4     5     6     7     8     16    24          32       40        44        48     56
 *     | mode | start | flags | last | CIR mantissa | exponent | EIR mantissa | exponent | CBS | EBS | committed | excess |
 *     | committed fraction 4 | excess fraction 4 | time 8 |
 * Fractions are of a unit, in 2^exponent; `last` is 1 + the colour of the last frame, 0 before the first; the time is that
 * of the last frame.
 */
export const METER_MODE = 0;
export const METER_START = 1;
export const METER_FLAGS = 2;
export const METER_LAST = 3;
export const METER_CIR = 4;
export const METER_CIR_EXPONENT = 5;
export const METER_EIR = 6;
export const METER_EIR_EXPONENT = 7;
export const METER_CBS = 8;
export const METER_EBS = 16;
export const METER_COMMITTED = 24;
export const METER_EXCESS = 32;
export const METER_COMMITTED_FRACTION = 40;
export const METER_EXCESS_FRACTION = 44;
export const METER_TIME = 48;
export const METER_SIZE = 56;
/** Units of a packet; a byte is one unit. */
export const METER_UNITS_A_PACKET = 128;
/**
 * Flags: units over CBS go to the excess bucket; green takes from both buckets; the meter is
 * active.
 */
export const METER_OVERFLOW = 1;
export const METER_BOTH = 2;
export const METER_ACTIVE = 4;

/**
 * A sampler: | number 4 | ratio 4 | table 4 | program, or 0 4 | actions 4 | 0 4 |, then operation
 * and operand of each action.
 */
export const SAMPLER_NUMBER = 0;
export const SAMPLER_RATIO = 4;
export const SAMPLER_TABLE = 8;
export const SAMPLER_PROGRAM = 12;
export const SAMPLER_COUNT = 16;
export const SAMPLER_FIRST = 24;

/**
 * An RSS record (docs/queues.md): | function 1 | symmetric 1 | outer 1 | inner 1 | queues 4 | mask 4 | key 40 |.
 * `outer` and `inner` are the fields of each packet that are hashed; `queues` is the address of mask + 1 queues, a word each.
 */
export const RSS_FUNCTION = 0;
export const RSS_SYMMETRIC = 1;
export const RSS_OUTER = 2;
export const RSS_INNER = 3;
export const RSS_QUEUES = 4;
export const RSS_MASK = 8;
export const RSS_KEY = 12;
export const RSS_KEY_SIZE = 40;
export const RSS_SIZE = 52;
/** Functions, numbered as in the device. Without a function, the first queue gets all frames. */
export const HASH_NONE = 0;
export const HASH_XOR8 = 1;
export const HASH_TOEPLITZ = 2;
/**
 * Selected fields. RSS_IPV6 selects addresses of IPv6 instead of IPv4, RSS_UDP ports of UDP instead
 * of TCP.
 */
export const RSS_SOURCE = 1;
export const RSS_DESTINATION = 2;
export const RSS_SOURCE_PORT = 4;
export const RSS_DESTINATION_PORT = 8;
export const RSS_SPI = 16;
export const RSS_IPV6 = 32;
export const RSS_UDP = 64;
