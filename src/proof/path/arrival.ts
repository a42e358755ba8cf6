/** What the key of a frame that comes in says of its origin (`source` in assembly/wire/parse.ts). */
import { VPORT_UPLINK } from "../../abi/engine.js";
import {
  DIRECTION_VPORT,
  DIRECTION_WIRE,
  EXT_DIRECTION,
  EXT_PORT,
  EXT_PRESENT_OUTER,
  EXT_REGISTER_B,
  KEY_SIZE,
  LAYER_UDP_PORTS,
  MISC_BITS,
  MISC_SOURCE_PORT,
  MISC2_REGISTER_A,
  MISC2_REGISTER_C_7,
  PRESENT_ETH,
} from "../../abi/key.js";
import { PORT_ROCE } from "../../abi/protocols.js";
import type { Device } from "../../model/device/device.js";
import { ParsedKey, type ParsedKeySettings } from "../keys/parsedKey.js";
import { constant, FALSE, type Literal } from "../literal.js";
import type { Solver } from "../solver/solver.js";
import type { Entry } from "./graph.js";
import { IS_PATH, presenceBit } from "./levels.js";

const ETHERNET = presenceBit(EXT_PRESENT_OUTER, PRESENT_ETH);

/** The key of frames that come in at an entry: its origin is known, registers are 0, but for the metadata of a sent frame. */
export function arrivalKey(device: Device, entry: Entry, solver: Solver): ParsedKey {
  const key = new ParsedKey(solver, arrivalOf(device, entry, solver));
  // Queue pairs send whole Ethernet headers only.
  if (entry.source.kind === "queue") solver.addClause([key.bit(ETHERNET)]);
  // Messages become RoCE v2 packets (src/model/roce/frame.ts).
  if (entry.transport) for (const one of isRoce(key)) solver.addClause([one]);
  return key;
}

function isRoce(key: ParsedKey): Literal[] {
  return Array.from({ length: 16 }, (_, n) => {
    const bit = key.bit(8 * LAYER_UDP_PORTS + 16 + n);
    return ((PORT_ROCE >> (15 - n)) & 1) === 1 ? bit : -bit;
  });
}

/** The same as settings of a key. */
export function arrivalOf({ parser }: Device, { source, queue }: Entry, solver: Solver): ParsedKeySettings {
  const key = new Uint8Array(KEY_SIZE);
  const view = new DataView(key.buffer);
  const { port } = source;
  const fromWire = source.kind === "wire";
  // | GRE and BTH bits 4 | source_vhca_port 4 | source_sqn 24 |
  view.setUint32(MISC_BITS, ((port < 16 ? port : 0) << 24) | ((queue?.qp_num ?? 0) & 0xffffff));
  view.setUint16(MISC_SOURCE_PORT, fromWire ? VPORT_UPLINK : source.vport);
  view.setUint16(EXT_PORT, port);
  view.setUint8(EXT_DIRECTION, fromWire ? DIRECTION_WIRE : DIRECTION_VPORT);
  const given = (bit: number): Literal => {
    if (!fromWire && isMetadata(bit)) return solver.newVariable();
    return constant(((key[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0);
  };
  return { parser, given };
}

function isMetadata(bit: number): boolean {
  return bit >= MISC2_REGISTER_A * 8 && bit < (MISC2_REGISTER_A + 4) * 8;
}

/** The metadata with which the solver's solution is sent. */
export function metadataOf(solver: Solver, arrival: ParsedKey): number {
  let metadata = 0;
  for (let n = 0; n < 32; n++) {
    const literal = arrival.literalAt(MISC2_REGISTER_A * 8 + n);
    metadata = metadata * 2 + (literal !== 0 && solver.value(literal) ? 1 : 0);
  }
  return metadata;
}

/**
 * The key of frames that come in anywhere: the bits of their origin are as free as those of headers, and so is register A.
 */
export function openArrivalKey({ parser }: Device, solver: Solver): ParsedKey {
  const given = (bit: number): Literal => (isOrigin(bit) || isMetadata(bit) ? solver.newVariable() : FALSE);
  return new ParsedKey(solver, { parser, given });
}

/** Whether a bit says where a frame comes in. */
function isOrigin(bit: number): boolean {
  return IS_PATH[bit] === 1 && !isRegister(bit);
}

function isRegister(bit: number): boolean {
  const dword = bit >> 5;
  return (dword >= MISC2_REGISTER_C_7 >> 2 && dword <= MISC2_REGISTER_A >> 2) || dword === EXT_REGISTER_B >> 2;
}

/** The key of frames at any table: nothing is known of their origin and of registers. */
export function anyArrival({ parser }: Device, solver: Solver): ParsedKeySettings {
  return { parser, given: () => solver.newVariable() };
}
