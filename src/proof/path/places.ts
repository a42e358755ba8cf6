/** Where the fields of header changes are in the key: places and bits of src/abi/program.ts to bits of the key. */
import { REGISTER_A, REGISTER_B } from "../../abi/engine.js";
import {
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  EXT_REGISTER_B,
  LAYER_DMAC,
  LAYER_DST,
  LAYER_DST_IPV4,
  LAYER_ETHERTYPE,
  LAYER_SMAC,
  LAYER_SRC,
  LAYER_SRC_IPV4,
  LAYER_STATE,
  LAYER_TCI,
  LAYER_TCP_PORTS,
  LAYER_TOS,
  LAYER_TTL,
  LAYER_UDP_PORTS,
  MISC2_REGISTER_A,
  MISC2_REGISTER_C_0,
  MISC3_GTPU_TEID,
  MISC3_OUTER_ACK,
  MISC3_OUTER_SEQ,
  MISC5_TUNNEL_HEADER,
  PRESENT_ETH,
  PRESENT_GTPU,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_TCP,
  PRESENT_UDP,
  PRESENT_VLAN,
} from "../../abi/key.js";
import { Place, PLACE_INNER } from "../../abi/program.js";
import { INNER_OF, presenceBit } from "./levels.js";

/** The first bit in the header, the first bit in the key, and the number of bits. */
type Part = readonly [header: number, key: number, bits: number];

interface Header {
  /** The bit of the key that says that the frame has the header. */
  readonly present: number;
  readonly parts: readonly Part[];
}

function outer(bit: number, ...parts: Part[]): Header {
  return { present: presenceBit(EXT_PRESENT_OUTER, bit), parts };
}

/** Headers of the outer packet. */
const HEADERS: Readonly<Record<number, Header>> = {
  [Place.ethernet]: outer(PRESENT_ETH, [0, 8 * LAYER_DMAC, 48], [48, 8 * LAYER_SMAC, 48]),
  [Place.ethertype]: outer(PRESENT_ETH, [0, 8 * LAYER_ETHERTYPE, 16]),
  [Place.vlan]: outer(PRESENT_VLAN, [0, 8 * LAYER_TCI, 16]),
  [Place.ip]: outer(PRESENT_L3, [8, 8 * LAYER_TOS, 8]),
  [Place.ipv4]: outer(
    PRESENT_IPV4,
    [8, 8 * LAYER_TOS, 8],
    [64, 8 * LAYER_TTL, 8],
    [96, 8 * LAYER_SRC_IPV4, 32],
    [128, 8 * LAYER_DST_IPV4, 32],
  ),
  [Place.ipv6]: outer(
    PRESENT_IPV6,
    [4, 8 * LAYER_TOS, 8],
    [56, 8 * LAYER_TTL, 8],
    [64, 8 * LAYER_SRC, 128],
    [192, 8 * LAYER_DST, 128],
  ),
  [Place.tcp]: outer(
    PRESENT_TCP,
    [0, 8 * LAYER_TCP_PORTS, 32],
    [32, 8 * MISC3_OUTER_SEQ, 32],
    [64, 8 * MISC3_OUTER_ACK, 32],
    // STATE_TCP_FLAGS.
    [103, 8 * LAYER_STATE + 7, 9],
  ),
  [Place.udp]: outer(PRESENT_UDP, [0, 8 * LAYER_UDP_PORTS, 32]),
  [Place.gtpu]: {
    present: presenceBit(EXT_PRESENT_TUNNEL, PRESENT_GTPU),
    // The TEID is the second dword of the tunnel header.
    parts: [
      [32, 8 * MISC3_GTPU_TEID, 32],
      [32, 8 * (MISC5_TUNNEL_HEADER + 4), 32],
    ],
  },
};

/** The bit of the key that says that a frame has the header of a place; -1 for registers, which every frame has. */
export function presenceOf(place: number): number {
  if (place >= (Place.register as number)) return -1;
  const { present } = HEADERS[place & ~PLACE_INNER] as Header;
  return (place & PLACE_INNER) === 0 ? present : (INNER_OF[present] as number);
}

/** The bits of the key that are a bit of a place. The first one can be read. */
export function keyBits(place: number, bit: number): number[] {
  if (place >= (Place.register as number)) return [registerBit(place - Place.register) + bit];
  const { parts } = HEADERS[place & ~PLACE_INNER] as Header;
  const bits = parts.filter(([first, , size]) => bit >= first && bit < first + size);
  const outside = bits.map(([first, key]) => key + bit - first);
  return (place & PLACE_INNER) === 0 ? outside : outside.map((one) => INNER_OF[one] as number);
}

/** The first bit of a register in the key. */
export function registerBit(register: number): number {
  if (register === REGISTER_A) return 8 * MISC2_REGISTER_A;
  if (register === REGISTER_B) return 8 * EXT_REGISTER_B;
  return 8 * (MISC2_REGISTER_C_0 - 4 * register);
}
