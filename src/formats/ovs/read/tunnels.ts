/** Headers that tunnel ports take off and put on. */
import { ones } from "../../../base/bits.js";
import { formatIpv4, formatIpv6 } from "../../../packet/addresses.js";
import { parseIpv4, parseIpv6 } from "../../../packet/addresses.js";
import { HEADERS } from "../../../headers/headers.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import type { Tunnel } from "./bridge/ports.js";
import type { FlowMatch, TunnelValues } from "./steps.js";

/** Where a tunnel's key lies, and its UDP port. */
const KEYS: Readonly<Record<string, readonly [field: string, width: number, port?: number]>> = {
  vxlan: ["misc.vxlan_vni", 24, HEADERS.vxlan.announced.port],
  geneve: ["misc.geneve_vni", 24, HEADERS.geneve.announced.port],
  gre: ["misc.gre_key", 32],
};
const TRANSPARENT_ETHERNET = HEADERS.ethernet.announced.tunnelType;

/** The UDP port of a tunnel port. @returns why the device does not know it, as text; undefined for none */
export function portOf(
  { type, options }: Tunnel,
  registerVxlan: (port: number) => string | null,
): number | string | undefined {
  const [, , known] = KEYS[type] ?? [];
  const port = Number(options.get("dst_port") ?? known);
  if (known === undefined || port === known) return known;
  return type === "vxlan" ? (registerVxlan(port) ?? port) : `the device reads ${type} at port ${known} only`;
}

/**
 * Asks for frames that come by a tunnel port.
 *
 * @param port its UDP port; undefined of GRE
 * @returns why that cannot be said, or undefined
 */
export function askTunnel(match: MatchDraft, { type, options }: Tunnel, port: number | undefined): string | undefined {
  const [field, width] = KEYS[type] ?? [];
  if (field === undefined || width === undefined) return `a tunnel of type ${type}`;
  for (const [option, side] of [
    ["remote_ip", "src"],
    ["local_ip", "dst"],
  ] as const) {
    const address = options.get(option) ?? "flow";
    if (address === "flow") continue;
    const ipv4 = parseIpv4(address);
    const value = ipv4 ?? parseIpv6(address);
    if (value === undefined) return `${option}=${address} is no address`;
    match.ask(ipv4 === undefined ? `outer.ipv6_${side}` : `outer.ipv4_${side}`, value);
  }
  if (port !== undefined) match.ask("outer.udp_dport", port);
  else match.ask("misc.gre_protocol", TRANSPARENT_ETHERNET);
  const key = options.get("in_key") ?? options.get("key");
  if (key === "flow" || key === "optional") {
    if (port !== undefined) match.ask(field, 0, 0n);
  } else if (key !== undefined || port !== undefined) {
    const number = Number(key ?? 0);
    if (!Number.isInteger(number) || number < 0 || number >= 2 ** width) return `key=${key ?? ""} is no key of ${type}`;
    match.ask(field, number);
  } else match.ask("misc.gre_k_present", 0);
  return undefined;
}

/** An option of Geneve that a text has given a name. */
export interface NamedOption {
  readonly class: number;
  readonly type: number;
  /** Bytes of its data. */
  readonly length: number;
}

/** Options by their names: `metadata0` and on. */
export type NamedOptions = ReadonlyMap<string, NamedOption>;

/** Bytes of the options that the device matches. */
const OPTION_BYTES = 4;

const isOption = (key: string): boolean => /^(?:metadata|option )/.test(key);

/** An option that flows name, or say by its class, type and length. @returns why it is not there, as text */
function optionOf(key: string, type: string, options: NamedOptions): NamedOption | string {
  const [, of, kind, length] = /^option (\d+) (\d+) (\d+)$/.exec(key) ?? [];
  const option =
    of === undefined ? options.get(key) : { class: Number(of), type: Number(kind), length: Number(length) };
  if (option === undefined) return `the text does not say which option tun_${key} is: ovs-ofctl add-tlv-map`;
  return type === "geneve" ? option : `options of a tunnel of type ${type}`;
}

/**
 * Asks for fields of the tunnel that a frame came by.
 *
 * @param declare makes the device look for an option; false if it looks for another
 * @returns why that cannot be said, or undefined
 */
export function askTunnelFields(
  match: MatchDraft,
  { type }: Tunnel,
  asked: FlowMatch["tunnel"],
  options: NamedOptions,
  declare: (option: NamedOption) => boolean,
): string | undefined {
  const [field = "", width = 0, port] = KEYS[type] ?? [];
  for (const [key, { value, mask }] of Object.entries(asked)) {
    if (mask === 0n && !key.startsWith("option ")) continue;
    if (key === "id") {
      if (value >> BigInt(width) !== 0n) return `keys of ${type} have ${width} bits`;
      match.ask(field, value, mask & ones(width));
    } else if (key === "src" || key === "dst") match.ask(`outer.ipv4_${key}`, value, mask);
    else if (key === "ipv6_src" || key === "ipv6_dst") match.ask(`outer.${key}`, value, mask);
    else if (key === "ttl") match.ask("outer.ip_ttl_hoplimit", value, mask & 0xffn);
    else if (key === "tos") {
      if ((mask & 0xfcn) !== 0n) match.ask("outer.ip_dscp", value >> 2n, (mask >> 2n) & 0x3fn);
      if ((mask & 3n) !== 0n) match.ask("outer.ip_ecn", value & 3n, mask & 3n);
    } else if ((key === "tp_src" || key === "tp_dst") && port !== undefined)
      match.ask(key === "tp_src" ? "outer.udp_sport" : "outer.udp_dport", value, mask & 0xffffn);
    else if (isOption(key)) {
      const option = optionOf(key, type, options);
      if (typeof option === "string") return option;
      if (option.length !== OPTION_BYTES) return "the device matches options of four bytes";
      if (!declare(option)) return "the device looks for one option of Geneve";
      match.ask("misc.geneve_tlv_option_0_exist", 1);
      if (mask !== 0n) match.ask("misc3.geneve_tlv_option_0_data", value, mask);
    } else return `tun_${key}: this part of a tunnel's header`;
  }
  return undefined;
}

/** MAC addresses of neighbors by their IP addresses, as the text has them. */
export type Neighbors = ReadonlyMap<string, string>;
type Header = { readonly header: string } & Readonly<Record<string, unknown>>;

export interface Encapsulation {
  readonly headers: readonly Header[];
  /** What the text does not say. */
  readonly open: readonly string[];
}

const NO_MAC = "00:00:00:00:00:00";
const TTL = 64;

/** The headers that an output to a tunnel port adds. @returns why they cannot be said, as text */
export function encapsulation(
  { type, name, options }: Tunnel,
  values: TunnelValues,
  neighbors: Neighbors,
  named: NamedOptions,
): Encapsulation | string {
  const [, width = 0, port] = KEYS[type] ?? [];
  const open: string[] = [];
  const remote = addressOf(options.get("remote_ip"), values.dst, values.ipv6_dst);
  if (remote === undefined) return `neither the port ${name} nor the flow says where the tunnel leads`;
  const isIpv6 = remote.includes(":");
  let local = addressOf(options.get("local_ip"), values.src, values.ipv6_src);
  if (local === undefined) {
    local = isIpv6 ? "::" : "0.0.0.0";
    open.push(`the own address of the tunnel: ${local}`);
  }
  if (local.includes(":") !== isIpv6) return `the ends ${local} and ${remote} of the tunnel are of two IP versions`;
  const option = options.get("out_key") ?? options.get("key");
  const key =
    option === "flow"
      ? (values.id ?? 0n)
      : option === "optional"
        ? values.id
        : option === undefined
          ? undefined
          : BigInt(/^\d+$|^0x[\da-f]+$/i.test(option) ? option : 0);
  if (key !== undefined && key >> BigInt(width) !== 0n) return `keys of ${type} have ${width} bits`;
  const destination = neighbors.get(remote) ?? NO_MAC;
  if (destination === NO_MAC) open.push(`the MAC address of ${remote}: ${NO_MAC}`);
  const source = neighbors.get(local) ?? NO_MAC;
  if (source === NO_MAC) open.push(`the MAC address of ${local}: ${NO_MAC}`);
  const ttl = Number(values.ttl ?? Number(options.get("ttl") ?? TTL)) || TTL;
  const tos = Number(values.tos ?? 0n);
  const ip: Header = isIpv6
    ? { header: "ipv6", source: local, destination: remote, hop_limit: ttl, dscp: tos >> 2, ecn: tos & 3 }
    : {
        header: "ipv4",
        source: local,
        destination: remote,
        ttl,
        dscp: tos >> 2,
        ecn: tos & 3,
        flags: options.get("df_default") === "false" ? [] : ["df"],
      };
  const written: object[] = [];
  for (const [name, value] of Object.entries(values).sort()) {
    if (!isOption(name)) continue;
    const option = optionOf(name, type, named);
    if (typeof option === "string") return option;
    written.push({
      class: option.class,
      type: option.type,
      data: value.toString(16).padStart(2 * option.length, "0"),
    });
  }
  const number = port === undefined ? 0 : Number(options.get("dst_port") ?? port);
  const upper: Header[] = port === undefined ? [] : [{ header: "udp", destination_port: number, checksum: 0 }];
  const vni = Number(key ?? 0n);
  const own: Header =
    type === "vxlan"
      ? { header: "vxlan", vni }
      : type === "geneve"
        ? {
            header: "geneve",
            vni,
            protocol_type: TRANSPARENT_ETHERNET,
            ...(written.length === 0 ? {} : { options: written }),
          }
        : { header: "gre", protocol_type: TRANSPARENT_ETHERNET, ...(key === undefined ? {} : { key: vni }) };
  return { headers: [{ header: "ethernet", destination, source }, ip, ...upper, own], open };
}

function addressOf(option: string | undefined, ipv4: bigint | undefined, ipv6: bigint | undefined): string | undefined {
  if (option !== undefined && option !== "flow") return option;
  if (ipv4 !== undefined && ipv4 !== 0n) return formatIpv4(ipv4);
  return ipv6 === undefined || ipv6 === 0n ? undefined : formatIpv6(ipv6);
}
