/** What a flower filter matches, key by key. */
import type { KernelDriver } from "../../../drivers/driver.js";
import { ones } from "../../../base/bits.js";
import { TPID_CVLAN, TPID_SVLAN, ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../../abi/protocols.js";
import { fieldNamed } from "../../../model/match/fields.js";
import type { GeneveOption } from "../../reading/draft.js";
import type { Element } from "../../reading/format.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import { notImported, partOf, unknownName, type Word } from "../../text/refusal.js";
import { connectionState, CT_REGISTER, isEstablished, NOT_TRACKED } from "./connection.js";
import { TUNNEL_FIELDS, type Tunnel } from "./devices.js";
import { FLOWER_KEYS, ICMP_FIELDS, IP_PROTOCOLS, PORT_FIELDS } from "../fields.js";
import { geneveOption } from "./geneve.js";
import {
  etherTypeOf,
  maskedByte,
  maskedIp,
  maskedMac,
  maskedNumber,
  tcNumber,
  vxlanGroup,
  type Masked,
} from "./values.js";

/** The keys of a filter by their names, as it gives them. */
export type Keys = ReadonlyMap<string, Word>;

export interface KeyContext {
  readonly match: MatchDraft;
  /** The packet that the device hands to the filter: of a tunnel device the one inside. */
  readonly level: "outer" | "inner";
  readonly tunnel: Tunnel | undefined;
  readonly device: string;
  readonly assume: (word: Word, reason: string) => void;
  readonly option: (option: GeneveOption, word: Word) => void;
  /** Whether the filter asks for the group of a VXLAN header: the driver then asks for words of the header. */
  readonly asksGroup: boolean;
  /** Checks the UDP port of a tunnel. @throws NotImported */
  readonly encPort: (word: Word, tunnel: Tunnel, port: number) => void;
  /** EtherType after the tags and IP protocol, where the filter asks for them. */
  readonly l3: number | undefined;
  l4: number | undefined;
  readonly driver: KernelDriver | null;
}

/** Whether a driver takes connections of an IP protocol, if the filter asks for one. */
export function isTracked(driver: KernelDriver | null, protocol: number | undefined): boolean {
  return driver === null || protocol === undefined || driver.tracked.includes(protocol);
}

type Ask = (word: Word, context: KeyContext) => void;
interface Key {
  readonly element: Element;
  readonly ask?: Ask;
}

const key = (becomes: string, ask: Ask): Key => ({ element: { becomes }, ask });
const no = (refused: string): Key => ({ element: { refused } });

const number = (word: Word, what: string, width: number): Masked => {
  return { value: BigInt(tcNumber(word, what, width)), mask: ones(width) };
};

const READ = { mac: maskedMac, byte: maskedByte, masked: maskedNumber, whole: number } as const;

/** Keys that are one match field. */
const direct = (...names: readonly (keyof typeof FLOWER_KEYS)[]): Readonly<Record<string, Key>> =>
  Object.fromEntries(
    names.map((name) => {
      const { field, value, what } = FLOWER_KEYS[name];
      const outer = field.replace("{}", "outer");
      const ask: Ask = (word, { match, level }) => {
        const bits = READ[value](word, what, fieldNamed(outer)?.width ?? 0);
        match.ask(field.replace("{}", level), bits.value, bits.mask);
      };
      return [name, key(`\`${outer}\``, ask)];
    }),
  );

const address =
  (side: "src" | "dst"): Ask =>
  (word, { match, level, l3 }) => {
    const kind = l3 === ETHERTYPE_IPV4 ? "ipv4" : "ipv6";
    if (l3 !== ETHERTYPE_IPV4 && l3 !== ETHERTYPE_IPV6) notImported(word, "addresses need protocol ip or ipv6");
    const { value, mask } = maskedIp(word, kind);
    match.ask(`${level}.${kind}_${side}`, value, mask);
  };

const port =
  (side: "sport" | "dport"): Ask =>
  (word, { match, level, l4 }) => {
    const prefix = PORT_FIELDS[l4 ?? -1]?.replace("{}", level);
    if (prefix === undefined) notImported(word, "ports need ip_proto tcp, udp or sctp");
    const field = `${prefix}_${side}`;
    const [, low, high] = /^(\d+)-(\d+)$/.exec(word.text) ?? [];
    if (low !== undefined && high !== undefined) {
      const limits = [
        tcNumber(partOf(word, 0, low.length), "a port", 16),
        tcNumber(partOf(word, low.length + 1), "a port", 16),
      ];
      const [from = 0, to = 0] = limits;
      if (from >= to) notImported(word, "the first port of a range is below the last one");
      match.range(field, from, to);
    } else {
      const { value, mask } = maskedNumber(word, "a port", 16);
      match.ask(field, value, mask);
    }
  };

const icmp =
  (what: "type" | "code"): Ask =>
  (word, { match, level, l4 }) => {
    const prefix = ICMP_FIELDS[l4 ?? -1];
    if (prefix === undefined) notImported(word, `${what} needs ip_proto icmp or icmpv6`);
    if (level === "inner") notImported(word, "the device does not match ICMP inside a tunnel");
    const { value, mask } = maskedNumber(word, `the ICMP ${what}`, 8);
    match.ask(`${prefix}_${what}`, value, mask);
  };

const inTunnel =
  (ask: (word: Word, context: KeyContext, tunnel: Tunnel) => void): Ask =>
  (word, context) => {
    const { tunnel, device } = context;
    if (tunnel === undefined) notImported(word, `only frames of a tunnel device have it, and ${device} is none`);
    ask(word, context, tunnel);
  };

const outerAddress = (side: "src" | "dst"): Ask =>
  inTunnel((word, { match }) => {
    const kind = word.text.includes(":") ? "ipv6" : "ipv4";
    const { value, mask } = maskedIp(word, kind);
    match.ask(`outer.${kind}_${side}`, value, mask);
  });

/** TOS and traffic class: the DSCP and the ECN. */
function askTos(match: MatchDraft, level: "outer" | "inner", { value, mask }: Masked): void {
  if (mask >> 2n !== 0n || mask === 0n) match.ask(`${level}.ip_dscp`, value >> 2n, mask >> 2n);
  if ((mask & 3n) !== 0n) match.ask(`${level}.ip_ecn`, value & 3n, mask & 3n);
}

const FLAGS: Readonly<Record<string, 0 | 1>> = { frag: 1, nofrag: 0 };

export const KEYS: Readonly<Record<string, Key>> = {
  indev: key("nothing where it is the device of the filter, else refused", (word, { device }) => {
    if (word.text !== device) notImported(word, `the filter is on ${device}: no frame of ${word.text} comes there`);
  }),
  ...direct("dst_mac", "src_mac"),
  num_of_vlans: key("0: no tag; 1: a tag and no second one; else refused", (word, { match, level }) => {
    const count = tcNumber(word, "num_of_vlans", 8);
    if (count > 1) notImported(word, "the device does not count more than one tag");
    if (count === 0) askNoTag(match, level);
    else {
      match.ask(`${level}.first_vid`, 0, 0n);
      askNoSecondTag(match, level);
    }
  }),
  ...direct("vlan_id", "vlan_prio"),
  vlan_ethtype: key("`outer.ethertype`, or the tags of QinQ", () => undefined),
  ...direct("cvlan_id", "cvlan_prio"),
  cvlan_ethtype: key("`outer.ethertype`", () => undefined),
  ...direct("mpls_label", "mpls_tc", "mpls_bos", "mpls_ttl"),
  ip_proto: key("`outer.ip_protocol`; a number is hexadecimal, as tc reads it", (word, context) => {
    const named = IP_PROTOCOLS[word.text.toLowerCase()];
    if (named === undefined && !/^(0x)?[\da-f]+$/i.test(word.text))
      unknownName(word, "a protocol", "protocols", Object.keys(IP_PROTOCOLS));
    const protocol = named ?? tcNumber(word, "ip_proto", 8, 16);
    if (named === undefined && /^\d{2,}$/.test(word.text)) {
      context.assume(word, `tc reads the number as hexadecimal: ${protocol} in decimal`);
    }
    context.l4 = protocol;
    context.match.ask(`${context.level}.ip_protocol`, protocol);
  }),
  ip_tos: key("`outer.ip_dscp`, `outer.ip_ecn`", (word, { match, level }) => {
    askTos(match, level, maskedByte(word, "ip_tos"));
  }),
  ...direct("ip_ttl"),
  dst_ip: key("`outer.ipv4_dst`, `outer.ipv6_dst`", address("dst")),
  src_ip: key("`outer.ipv4_src`, `outer.ipv6_src`", address("src")),
  dst_port: key("`outer.tcp_dport`, `outer.udp_dport`, `ext.outer_sctp_dport`; also masks and ranges", port("dport")),
  src_port: key("`outer.tcp_sport`, `outer.udp_sport`, `ext.outer_sctp_sport`; also masks and ranges", port("sport")),
  tcp_flags: key("`outer.tcp_flags`, nine bits; a mask that has more is refused", (word, { match, level, assume }) => {
    const { value, mask } = maskedNumber(word, "tcp_flags", 12, 16);
    const isWhole = !word.text.includes("/");
    if (isWhole && value <= 0x1ffn) assume(word, "the device does not compare the three reserved bits");
    else if (mask > 0x1ffn) notImported(word, "the device has nine TCP flags, and does not match the reserved bits");
    match.ask(`${level}.tcp_flags`, value, mask & 0x1ffn);
  }),
  type: key("`misc3.icmp_type`, `misc3.icmpv6_type`", icmp("type")),
  code: key("`misc3.icmp_code`, `misc3.icmpv6_code`", icmp("code")),
  ip_flags: key("frag, nofrag: `outer.frag`; firstfrag and nofirstfrag are refused", (word, { match, level }) => {
    for (const one of word.text.split("/")) {
      const flag = FLAGS[one] ?? notImported(word, `the device matches frag and nofrag, not ${one}`);
      match.ask(`${level}.frag`, flag);
    }
  }),
  ...direct("spi"),
  ct_state: key("bits of register C2, which the action ct sets", (word, { match, l4, driver, assume }) => {
    const state = connectionState(word);
    if (isEstablished(state) && !isTracked(driver, l4)) assume(word, NOT_TRACKED);
    match.ask(CT_REGISTER, state.value, state.mask);
  }),
  ct_zone: key("bits of register C2, which the action ct sets", (word, { match }) => {
    const { value, mask } = maskedNumber(word, "ct_zone", 16);
    match.ask(CT_REGISTER, value << 16n, mask << 16n);
  }),
  enc_key_id: key(
    "`misc.vxlan_vni`, `misc.geneve_vni`, `misc.gre_key`, by the tunnel device",
    inTunnel((word, { match, asksGroup }, { kind }) => {
      const id = tcNumber(word, "enc_key_id", kind === "gre" ? 32 : 24);
      if (asksGroup && kind === "vxlan") match.ask("misc5.tunnel_header_1", BigInt(id) << 8n, ones(24) << 8n);
      else match.ask(TUNNEL_FIELDS[kind], id);
    }),
  ),
  enc_dst_ip: key("`outer.ipv4_dst`, `outer.ipv6_dst` on a tunnel device", outerAddress("dst")),
  enc_src_ip: key("`outer.ipv4_src`, `outer.ipv6_src` on a tunnel device", outerAddress("src")),
  enc_dst_port: key(
    "`outer.udp_dport` on a tunnel device; of VXLAN also `device.parser.vxlanPorts`",
    inTunnel((word, { match, encPort }, tunnel) => {
      const port = tcNumber(word, "enc_dst_port", 16);
      encPort(word, tunnel, port);
      match.ask("outer.udp_dport", port);
    }),
  ),
  enc_tos: key(
    "`outer.ip_dscp`, `outer.ip_ecn` on a tunnel device",
    inTunnel((word, { match }) => {
      askTos(match, "outer", maskedByte(word, "enc_tos"));
    }),
  ),
  enc_ttl: key(
    "`outer.ip_ttl_hoplimit` on a tunnel device",
    inTunnel((word, { match }) => {
      const { value, mask } = maskedByte(word, "enc_ttl");
      match.ask("outer.ip_ttl_hoplimit", value, mask);
    }),
  ),
  geneve_opts: key(
    "Geneve option 0 of the device: one class and type, at most four bytes",
    inTunnel((word, { match, option }, { kind }) => {
      if (kind !== "geneve") notImported(word, "only Geneve has such options");
      geneveOption(word, match, option);
    }),
  ),
  vxlan_opts: key(
    "the group of VXLAN and its flags: `misc5.tunnel_header_0`, with the VNI in `tunnel_header_1`",
    inTunnel((word, { match, assume }, { kind }) => {
      if (kind !== "vxlan") notImported(word, "only VXLAN has a group");
      const { value, mask } = vxlanGroup(word, assume);
      match.ask("misc5.tunnel_header_0", value, mask);
    }),
  ),
  ct_mark: no("the mark is in the connection, which filters do not describe"),
  ct_label: no("the label is in the connection, which filters do not describe"),
  mpls: no("the device matches the first entry of the stack: mpls_label, mpls_tc, mpls_bos, mpls_ttl"),
  arp_tip: no("the device does not match ARP"),
  arp_sip: no("the device does not match ARP"),
  arp_op: no("the device does not match ARP"),
  arp_tha: no("the device does not match ARP"),
  arp_sha: no("the device does not match ARP"),
  pppoe_sid: no("the device does not match PPPoE"),
  ppp_proto: no("the device does not match PPPoE"),
  erspan_opts: no("the device does not match ERSPAN"),
  gtp_opts: no("the device does not match the options of a GTP device"),
  enc_src_port: no("tc itself has no such key"),
  enc_flags: no("the device does not match the flags of a tunnel"),
  l2_miss: no("the bridge of the kernel is not in the device"),
  hash: no("the device does not match the hash of the kernel"),
  cfm: no("the device does not match CFM"),
};

/** Asks for the protocol of a filter, and for the tags that are in front of it. @throws NotImported */
export function askProtocol(protocol: number | undefined, keys: Keys, context: KeyContext): void {
  const { match, level } = context;
  if (!isTag(protocol)) {
    if (protocol === undefined) return;
    askNoTag(match, level);
    match.ask(`${level}.ethertype`, protocol);
    return;
  }
  match.ask(`${level}.${protocol === TPID_CVLAN ? "cvlan_tag" : "svlan_tag"}`, 1);
  const next = typeIn(keys, "vlan_ethtype");
  if (next === undefined) return;
  if (!isTag(next)) {
    askNoSecondTag(match, level);
    match.ask(`${level}.ethertype`, next);
    return;
  }
  match.ask(`misc.${level}_second_${next === TPID_CVLAN ? "cvlan_tag" : "svlan_tag"}`, 1);
  const last = typeIn(keys, "cvlan_ethtype");
  if (last !== undefined) match.ask(`${level}.ethertype`, last);
}

/** The EtherType after the tags that a filter asks for. @throws NotImported */
export function l3Of(protocol: number | undefined, keys: Keys): number | undefined {
  if (!isTag(protocol)) return protocol;
  const next = typeIn(keys, "vlan_ethtype");
  return isTag(next) ? typeIn(keys, "cvlan_ethtype") : next;
}

/** That tags are there which the keys ask for. @throws NotImported */
export function checkTags(protocol: number | undefined, keys: Keys): void {
  const [first] = ["vlan_id", "vlan_prio", "vlan_ethtype"].flatMap((name) => keys.get(name) ?? []);
  if (first !== undefined && !isTag(protocol)) notImported(first, "vlan keys need protocol 802.1Q or 802.1ad");
  const [second] = ["cvlan_id", "cvlan_prio", "cvlan_ethtype"].flatMap((name) => keys.get(name) ?? []);
  if (second !== undefined && !(isTag(protocol) && isTag(typeIn(keys, "vlan_ethtype")))) {
    notImported(second, "cvlan keys need vlan_ethtype 802.1Q or 802.1ad");
  }
}

function typeIn(keys: Keys, name: string): number | undefined {
  const word = keys.get(name);
  return word === undefined ? undefined : etherTypeOf(word);
}

export function isTag(type: number | undefined): boolean {
  return type === TPID_CVLAN || type === TPID_SVLAN;
}

function askNoTag(match: MatchDraft, level: string): void {
  match.ask(`${level}.cvlan_tag`, 0);
  match.ask(`${level}.svlan_tag`, 0);
}

function askNoSecondTag(match: MatchDraft, level: string): void {
  match.ask(`misc.${level}_second_cvlan_tag`, 0);
  match.ask(`misc.${level}_second_svlan_tag`, 0);
}
