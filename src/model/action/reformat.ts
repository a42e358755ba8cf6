/**
 * Packet reformats: the types that a device accepts, and the record that the core gets (REFORMAT_*
 * in src/abi/engine.ts). Checks follow the order of mlx5dv_dr_action_create_packet_reformat.
 */
import {
  L2_TO_L2_TUNNEL,
  L2_TO_L3_TUNNEL,
  L2_TUNNEL_TO_L2,
  L3_TUNNEL_TO_L2,
  MAX_REFORMAT,
  REFORMAT_DATA,
  REFORMAT_ENTROPY,
  REFORMAT_IP,
  REFORMAT_LENGTH,
  REFORMAT_TYPE,
  REFORMAT_UDP,
  REFORMAT_VERSION,
} from "../../abi/reformat.js";
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, PROTOCOL_UDP } from "../../abi/protocols.js";
import { HEADERS, UDP_TUNNELS } from "../../headers/headers.js";
import { refuse, type ErrnoName, type Refusal } from "../../errors.js";
import { unsigned, wrongType } from "../../base/checks.js";
import { isVlanTpid, VLAN_TPIDS } from "../../packet/vlan.js";
import { checkRootOnly, type ActionSetting } from "./modifyHeader.js";

const CITE = "mlx5dv_create_flow_action_packet_reformat(3)";

/** Whether a type encapsulates. */
export function encapsulates(type: number): boolean {
  return type === L2_TO_L2_TUNNEL || type === L2_TO_L3_TUNNEL;
}

/**
 * The record of a packet reformat. It uses `data_sz` bytes of `data`; undefined means all of them.
 * @throws EINVAL, EOPNOTSUPP reformats that the device cannot carry out; TypeError
 */
export function reformatRecord(
  setting: ActionSetting,
  type: number,
  data: Uint8Array | null | undefined,
  data_sz: number | undefined,
): Uint8Array {
  checkRootOnly(setting);
  const bytes = reformatData(data, data_sz);
  checkType(setting, unsigned("reformat_type", type, 32));
  checkData(type, bytes);
  const record = new Uint8Array(REFORMAT_DATA + bytes.length);
  const view = new DataView(record.buffer);
  view.setUint8(REFORMAT_TYPE, type);
  view.setUint16(REFORMAT_LENGTH, bytes.length, true);
  record.set(bytes, REFORMAT_DATA);
  if (!encapsulates(type)) return record;
  const { version, ip, udp, entropy } = headersOf(bytes) ?? noHeaders(bytes);
  view.setUint8(REFORMAT_VERSION, version);
  view.setUint8(REFORMAT_ENTROPY, entropy ? 1 : 0);
  view.setUint16(REFORMAT_IP, ip, true);
  view.setUint16(REFORMAT_UDP, udp, true);
  return record;
}

/** The bytes to use. @throws EINVAL data without size or size without data, too many bytes */
export function reformatData(data: Uint8Array | null | undefined, data_sz: number | undefined): Uint8Array {
  const given = data ?? new Uint8Array();
  if (!(given instanceof Uint8Array)) {
    wrongType("data", "a Uint8Array or null", given);
  }
  const size = unsigned("data_sz", data_sz ?? given.length, 32);
  const bad = (hint: string): never => refuse({ ...badReformat("data_sz", size), hint });
  if ((given.length === 0) !== (size === 0)) bad(size === 0 ? "there is data" : "there is no data");
  if (size > MAX_REFORMAT) bad(`at most ${MAX_REFORMAT} bytes`);
  if (size > given.length) bad(`there are ${given.length} bytes`);
  return given.subarray(0, size);
}

function checkType({ domainType, refuses }: ActionSetting, type: number): void {
  const bad = (hint: string, code: ErrnoName = "EINVAL"): never =>
    refuse({ ...badReformat("reformat_type", type), code, hint });
  if (type > L2_TO_L3_TUNNEL) bad("0 to 3");
  const { reformatDirection, reformatInFdbRoot } = refuses;
  if (reformatDirection !== undefined) {
    if (domainType === "nic_rx" && encapsulates(type)) bad("NIC_RX decapsulates: 0 or 2", reformatDirection);
    if (domainType === "nic_tx" && !encapsulates(type)) bad("NIC_TX encapsulates: 1 or 3", reformatDirection);
  }
  if (domainType !== "fdb" || reformatInFdbRoot === undefined) return;
  const hint = "not in the root table of the FDB";
  refuse({ ...badReformat("reformat_type", type), code: reformatInFdbRoot, reason: "unsupported", hint });
}

function checkData(type: number, { length }: Uint8Array): void {
  const bad = (hint: string): never => refuse({ ...badReformat("data_sz", length), hint });
  if (encapsulates(type) && length === 0) bad("the headers of the tunnel, from its Ethernet header on");
  if (type === L2_TUNNEL_TO_L2 && length > 0) bad("no data: the inner Ethernet header stays");
  if (type === L3_TUNNEL_TO_L2 && length !== 14 && length !== 18)
    bad("an Ethernet header of 14 bytes, or 18 with a tag");
}

function noHeaders(data: Uint8Array): never {
  const hint = `Ethernet, any ${VLAN_TPIDS} tags, then a whole IPv4 or IPv6 header`;
  return refuse({ ...badReformat("data", data), hint });
}

function badReformat(path: string, value: unknown): Omit<Refusal, "call"> {
  return { code: "EINVAL", reason: "bad_reformat", path, value, cite: CITE };
}

/** Whether a frame can get these bytes in front of it, as an encapsulation of L2_TO_L2_TUNNEL. */
export function isEncapsulation(data: Uint8Array): boolean {
  return data.length <= MAX_REFORMAT && headersOf(data) !== undefined;
}

/** Offsets of the headers whose lengths and checksums are fixed up; `udp` is 0 without one. */
interface Headers {
  version: 4 | 6;
  ip: number;
  udp: number;
  entropy: boolean;
}

const ETHERTYPE = 12;
const UDP_SIZE = 8;
/** Tunnels that choose their UDP source port (RFC 7348 section 5). */
const ENTROPY_PORTS: ReadonlySet<number> = new Set(UDP_TUNNELS.map((header) => HEADERS[header].announced.port));

/**
 * SPEC: after Ethernet, only IP headers can be fixed up, so data with MPLS or another header there
 * is no encapsulation.
 */
function headersOf(data: Uint8Array): Headers | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const word = (at: number): number => (at + 2 <= data.length ? view.getUint16(at) : -1);
  let at = ETHERTYPE;
  while (isVlanTpid(word(at))) at += 4;
  const type = word(at);
  const ip = at + 2;
  const first = data[ip] ?? 0;
  if (type === ETHERTYPE_IPV4 && first >> 4 === 4) {
    const end = ip + (first & 15) * 4;
    if (end < ip + 20 || end > data.length) return undefined;
    const later = (word(ip + 6) & 0x1fff) !== 0;
    return { version: 4, ip, ...udpAt(!later && data[ip + 9] === PROTOCOL_UDP, end) };
  }
  const end = ip + 40;
  if (type !== ETHERTYPE_IPV6 || first >> 4 !== 6 || end > data.length) return undefined;
  return { version: 6, ip, ...udpAt(data[ip + 6] === PROTOCOL_UDP, end) };

  function udpAt(here: boolean, udp: number): { udp: number; entropy: boolean } {
    if (!here || udp + UDP_SIZE > data.length) return { udp: 0, entropy: false };
    return { udp, entropy: ENTROPY_PORTS.has(word(udp + 2)) };
  }
}
