/** Datapath flows: what `ovs-appctl dpctl/dump-flows` and `ovs-dpctl dump-flows` print. */
import { namesHint } from "../../nearest.js";
import type { Element } from "../format.js";
import { hexOf } from "./hex.js";
import { fieldNamed, whyRefused, type OvsField } from "./fields.js";
import { UNTAGGED } from "./match.js";
import { numberOf } from "../text/numbers.js";
import { NotImported, notImported } from "../text/refusal.js";
import {
  act,
  sample,
  type Act,
  type Ask,
  type Change,
  type Flow,
  type FlowMatch,
  type Plain,
  type TunnelKey,
  type TunnelValues,
} from "./steps.js";
import type { Piece } from "./text.js";
import { fullMask, maskedOf, type Masked } from "./values.js";

const CT = "the device tracks one connection an object, not all that pass";

/** Keys with fields in parentheses, and the fields that these are. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  eth: { src: "eth_src", dst: "eth_dst" },
  ipv4: { src: "ip_src", dst: "ip_dst", proto: "ip_proto", tos: "nw_tos_ecn", ttl: "nw_ttl", frag: "nw_frag" },
  ipv6: {
    ...{ src: "ipv6_src", dst: "ipv6_dst", label: "ipv6_label", proto: "ip_proto" },
    ...{ tclass: "nw_tos_ecn", hlimit: "nw_ttl", frag: "nw_frag" },
  },
  tcp: { src: "tcp_src", dst: "tcp_dst" },
  udp: { src: "udp_src", dst: "udp_dst" },
  sctp: { src: "sctp_src", dst: "sctp_dst" },
  icmp: { type: "icmp_type", code: "icmp_code" },
  icmpv6: { type: "icmpv6_type", code: "icmpv6_code" },
  arp: { sip: "arp_spa", tip: "arp_tpa", op: "arp_op", sha: "arp_sha", tha: "arp_tha" },
};

/** What a frame of the datapath is, besides its bytes: zero, or not imported. */
const ZERO = ["skb_priority", "skb_mark", "ct_state", "ct_zone", "ct_mark", "ct_label", "dp_hash", "packet_type"];
const TUNNEL: Readonly<Record<string, TunnelKey>> = {
  ...{ tun_id: "id", src: "src", dst: "dst", ipv6_src: "ipv6_src", ipv6_dst: "ipv6_dst", tos: "tos", ttl: "ttl" },
  ...{ tp_src: "tp_src", tp_dst: "tp_dst" },
};

export const KEY_ELEMENTS: Readonly<Record<string, Element>> = {
  recirc_id: { becomes: "the table: frames come to `recirc_id(0)` first" },
  in_port: { becomes: "`misc.source_port` and the port" },
  "eth, eth_type": { becomes: "`outer.smac`, `outer.dmac`, `outer.ethertype`; without `vlan` the frame has no tag" },
  "vlan, encap": { becomes: "`outer.first_vid`, `outer.first_prio`; what follows the tag" },
  ...Object.fromEntries(
    Object.entries(FIELDS)
      .filter(([key]) => key !== "eth")
      .map(([key, fields]) => [
        `${key}: ${Object.keys(fields).join(", ")}`,
        { becomes: "the match fields of the same headers" },
      ]),
  ),
  tcp_flags: { becomes: "`outer.tcp_flags`" },
  tunnel: { becomes: "the headers of the tunnel port that the frame came by" },
  [ZERO.join(", ")]: { becomes: "nothing, where they ask for 0 or for nothing; else refused" },
  "nd, mpls, nsh, ct_tuple4, ct_tuple6": { refused: "the device does not match them, or not as the datapath does" },
};

export const DP_ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  "a number, a name": { becomes: "`vport` or `port`" },
  drop: { becomes: "`drop`" },
  ct_clear: { becomes: "nothing: no frame is tracked" },
  recirc: { becomes: "a jump to the table of the flows with this `recirc_id`" },
  "set(eth), set(ipv4), set(ipv6), set(tcp), set(udp)": { becomes: "`modify`: `set`" },
  "set(tunnel)": { becomes: "the headers that an output to a tunnel port adds" },
  "push_vlan, pop_vlan": { becomes: "`push_vlan`, `pop_vlan`" },
  clone: { becomes: "a copy: a member of an `array`" },
  tnl_push: { becomes: "`reformat` with the headers that stand there, and the port" },
  tnl_pop: { refused: "the flows of the tunnel port have other frames: name its port with ovs-vsctl" },
  "ct, nat": { refused: CT },
  userspace: { refused: "the device does not send frames to a program of the host" },
  "sample, meter, hash, check_pkt_len, trunc, push_mpls, pop_mpls, psample": {
    refused: "the device has no equal, or the text does not say enough",
  },
};

/** @throws NotImported */
export function readDatapathFlow(text: Piece): Flow {
  const [before, after] = text.cut("actions:") ?? notImported(text, "the actions are missing");
  const reader = new Keys();
  const named: string[] = [];
  for (const piece of before.split(", \t")) {
    if (!/^[a-z_\d]+\(/.test(piece.text)) continue;
    reader.add(piece);
    named.push(piece.text);
  }
  const { match, table } = reader.done();
  const name = named.filter((one) => !/\(0(?:\/0)?\)$/.test(one)).join(",") || `recirc_id(${table})`;
  const shown = name.length > 120 ? `${name.slice(0, 120)}...` : name;
  return {
    name,
    place: text.place,
    text: shown,
    table,
    priority: 65535,
    match,
    acts: datapathActions(after, table),
    identity: `${table} ${named.join()}`,
  };
}

class Keys {
  readonly #asks: Ask[] = [];
  readonly #either: (readonly (readonly Ask[])[])[] = [];
  readonly #tunnel: Partial<Record<TunnelKey, Masked>> = {};
  #inPort: string | undefined;
  #table = "0";
  #hasTag = false;
  #hasType = false;
  #isIpv6 = false;

  done(): { match: FlowMatch; table: string } {
    if (this.#hasType && !this.#hasTag) this.#asks.push(...UNTAGGED);
    const match = {
      inPort: this.#inPort,
      asks: this.#asks,
      either: this.#either,
      tunnel: this.#tunnel,
      conjunction: undefined,
    };
    return { match, table: this.#table };
  }

  add(piece: Piece): void {
    const [key, inside] = piece.call() ?? notImported(piece, "a key has its value in parentheses");
    if (key === "recirc_id") this.#table = String(numberOf(inside, key, 32));
    else if (key === "in_port") this.#inPort = inside.unquoted();
    else if (key === "eth_type") this.#type(inside);
    else if (key === "vlan") this.#vlan(inside);
    else if (key === "encap") for (const one of inside.split(",")) this.add(one);
    else if (key === "tcp_flags") this.#field("tcp_flags", inside);
    else if (key === "tunnel") this.#tunnelKey(inside);
    else if (ZERO.includes(key)) this.#zero(key, inside);
    else {
      const fields = FIELDS[key] ?? notImported(piece, `the datapath's key ${key} is not read`);
      for (const one of inside.split(",")) this.#part(fields, one);
    }
  }

  #part(fields: Readonly<Record<string, string>>, piece: Piece): void {
    const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
    const field =
      fields[name.text] ??
      notImported(piece, `there is no field ${name.text}; ${namesHint(name.text, "fields", Object.keys(fields))}`);
    if (field === "nw_frag") this.#fragment(value);
    else if (field === "nw_tos_ecn") {
      this.#field("nw_tos", value);
      this.#low("outer.ip_ecn", 2, value);
    } else this.#field(field, value);
  }

  #field(name: string, value: Piece): void {
    const field = fieldNamed(name) ?? notImported(value, whyRefused(name) ?? `there is no field ${name}`);
    const { value: bits, mask } = maskedOf(value, field);
    this.#asks.push(...asksOf(field, bits, mask));
  }

  /** The lowest bits of a byte. */
  #low(field: string, width: number, value: Piece): void {
    const { value: bits, mask } = maskedOf(value, { name: field, kind: "number", width: 8 });
    const low = fullMask(width);
    if ((mask & low) !== 0n) this.#asks.push({ field, value: bits & low, mask: mask & low });
  }

  #type(value: Piece): void {
    this.#hasType = true;
    const { value: type, mask } = maskedOf(value, { name: "eth_type", kind: "number", width: 16 });
    if (type === 0x8100n || type === 0x88a8n) {
      this.#hasTag = true;
      this.#asks.push({ field: type === 0x8100n ? "outer.cvlan_tag" : "outer.svlan_tag", value: 1n, mask: 1n });
      return;
    }
    this.#isIpv6 = type === 0x86ddn;
    if (mask !== 0n) this.#asks.push({ field: "outer.ethertype", value: type, mask });
  }

  #vlan(inside: Piece): void {
    this.#hasTag = true;
    for (const piece of inside.split(",")) {
      const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
      if (name.text === "vid") this.#ask("outer.first_vid", 12, value);
      else if (name.text === "pcp") this.#ask("outer.first_prio", 3, value);
      else if (name.text === "cfi") continue;
      else notImported(piece, "tags have vid and pcp");
    }
  }

  #ask(field: string, width: number, value: Piece): void {
    const { value: bits, mask } = maskedOf(value, { name: field, kind: "number", width });
    if (mask !== 0n) this.#asks.push({ field, value: bits, mask });
  }

  #fragment(piece: Piece): void {
    const { text } = piece;
    const ask = (value: bigint): Ask => ({ field: "outer.frag", value, mask: 1n });
    const offset = this.#isIpv6 ? sample("ipv6_fragment", 0) : sample("ipv4", 4);
    const bits = this.#isIpv6 ? 0xfff8n : 0x1fffn;
    if (text === "no") this.#asks.push(ask(0n));
    else if (text === "first") this.#asks.push(ask(1n), { field: offset, value: 0n, mask: bits });
    else if (text === "later") {
      const byBit = Array.from({ length: 13 }, (_, bit): Ask[] => {
        const one = 1n << BigInt(this.#isIpv6 ? bit + 3 : bit);
        return [ask(1n), { field: offset, value: one, mask: one | (bits & ~((one << 1n) - 1n)) }];
      });
      this.#either.push(byBit);
    } else notImported(piece, "fragments are no, first or later");
  }

  #tunnelKey(inside: Piece): void {
    for (const piece of inside.split(",")) {
      const [name, value] = piece.cut("=") ?? [piece, undefined];
      const key = TUNNEL[name.text];
      // Flags say that there is a key, and whether there is a checksum.
      if (value === undefined || /^flags/.test(name.text)) continue;
      if (key === undefined) notImported(piece, "options of tunnels are not read");
      const isSix = key === "ipv6_src" || key === "ipv6_dst";
      const kind = key === "src" || key === "dst" ? "ipv4" : isSix ? "ipv6" : "number";
      const bits = maskedOf(value, { name: `tun_${key}`, kind, width: kind === "ipv4" ? 32 : isSix ? 128 : 64 });
      if (bits.mask !== 0n) this.#tunnel[key] = bits;
    }
  }

  /** Numbers that frames of the device do not have. */
  #zero(key: string, inside: Piece): void {
    const [value = "", mask] = inside.text.split("/");
    const asksNothing = mask !== undefined && /^0(x0*)?$/.test(mask);
    if (asksNothing || /^0(x0*)?$/.test(value) || key === "packet_type" || /^(-\w+)+$/.test(inside.text)) return;
    notImported(inside, key.startsWith("ct_") ? CT : "a number of the host, which frames on the device do not have");
  }
}

function asksOf({ parts }: OvsField, value: bigint, mask: bigint): Ask[] {
  return parts.flatMap(({ field, low, width, at }): Ask[] => {
    const bits = (mask >> BigInt(low)) & fullMask(width);
    if (bits === 0n) return [];
    return [{ field, value: ((value >> BigInt(low)) & bits) << BigInt(at), mask: bits << BigInt(at) }];
  });
}

function datapathActions(list: Piece, table: string): Act[] {
  const acts = list.split(", \t").flatMap((piece) => {
    try {
      const plain = datapathAction(piece, table);
      return Array.isArray(plain) ? plain.map(act) : [act(plain)];
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      return [act({ kind: "refused", text: piece.text, reason: error.reason, place: error.word.place })];
    }
  });
  // The output behind tnl_push sends what it has made; old versions have none.
  return acts.flatMap((one, n) => {
    const next = acts[n + 1];
    const before = acts[n - 1];
    if (one.kind === "encap" && next?.kind === "output") return [act({ ...plainOf(one), port: next.port })];
    return one.kind === "output" && before?.kind === "encap" ? [] : [one];
  });
}

function plainOf({ data, port, place }: Extract<Act, { kind: "encap" }>): Extract<Plain, { kind: "encap" }> {
  return { kind: "encap", data, port, place };
}

const REFUSED: Readonly<Record<string, string>> = {
  ct: CT,
  userspace: "the device does not send frames to a program of the host",
  sample: "samples go to a collector",
  meter: "the rates of meters are not read",
  hash: "it chooses by a hash of its own",
  check_pkt_len: "the device does not compare lengths",
  trunc: "the device does not cut frames",
  push_mpls: "the device does not add MPLS labels to a frame",
  pop_mpls: "the device does not remove MPLS labels from a frame",
  tnl_pop: "the flows of the tunnel port have other frames: name its port with ovs-vsctl",
};

function datapathAction(piece: Piece, table: string): Plain | Plain[] {
  const { text } = piece;
  if (text === "drop" || text === "ct_clear") return [];
  if (text === "pop_vlan") return { kind: "pop_vlan" };
  const [name, inside] = piece.call() ?? [text, piece];
  const refused = REFUSED[name];
  if (refused !== undefined) notImported(piece, refused);
  if (name === text) return { kind: "output", port: piece.unquoted(), place: piece.place, hairpin: true };
  if (name === "recirc") return { kind: "lookup", table: String(numberOf(inside, name, 32)), inPort: undefined };
  if (name === "clone") return { kind: "clones", lists: [datapathActions(inside, table)] };
  if (name === "push_vlan") return pushVlan(inside);
  if (name === "set" || name === "set_masked") return setKey(inside);
  if (name === "tnl_push") return tunnelPush(inside);
  return notImported(piece, `the datapath's action ${name} is not read`);
}

function pushVlan(inside: Piece): Plain {
  const values = new Map(inside.split(",").map((one) => one.text.split("=") as [string, string]));
  const tpid = Number(values.get("tpid") ?? 0x8100);
  if (tpid !== 0x8100 && tpid !== 0x88a8) notImported(inside, "tags have the types 0x8100 and 0x88a8");
  return { kind: "push_vlan", tpid, vid: Number(values.get("vid") ?? 0), pcp: Number(values.get("pcp") ?? 0) };
}

function setKey(inside: Piece): Plain {
  const [key, values] = inside.call() ?? notImported(inside, "a key has its value in parentheses");
  if (key === "tunnel") return { kind: "tunnel", values: tunnelValues(values) };
  const fields = FIELDS[key] ?? notImported(inside, `the device does not set ${key}`);
  const changes: Change[] = [];
  for (const piece of values.split(",")) {
    const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
    const target = fields[name.text] ?? notImported(piece, `there is no field ${name.text}`);
    if (target === "nw_frag" || target === "ip_proto") continue;
    const [wide, low] = target === "nw_tos_ecn" ? ["nw_tos", "nw_ecn"] : [target];
    const field = fieldNamed(wide) as OvsField;
    if (!field.writable) notImported(piece, `the device does not change ${field.name}`);
    const { value: bits, mask } = maskedOf(value, field);
    for (const ask of asksOf(field, bits, mask)) changes.push({ kind: "set", ...ask });
    if (low !== undefined && (mask & 3n) !== 0n) {
      changes.push({ kind: "set", field: "outer.ip_ecn", value: bits & mask & 3n, mask: mask & 3n });
    }
  }
  return { kind: "change", changes };
}

function tunnelValues(inside: Piece): TunnelValues {
  const values: Partial<Record<TunnelKey, bigint>> = {};
  for (const piece of inside.split(",")) {
    const [name, value] = piece.cut("=") ?? [piece, undefined];
    const key = TUNNEL[name.text];
    if (key === undefined) {
      if (value === undefined || name.text === "flags") continue;
      notImported(piece, "options of tunnels are not read");
    }
    if (value === undefined) continue;
    const isSix = key === "ipv6_src" || key === "ipv6_dst";
    const kind = key === "src" || key === "dst" ? "ipv4" : isSix ? "ipv6" : "number";
    values[key] = maskedOf(value, { name: `tun_${key}`, kind, width: kind === "ipv4" ? 32 : isSix ? 128 : 64 }).value;
  }
  return values;
}

/** `tnl_push(tnl_port(6),header(size=50,type=4,eth(...),ipv4(...),udp(...),vxlan(...)),out_port(1))`. */
function tunnelPush(inside: Piece): Plain {
  let header: Piece | undefined;
  let port: Piece | undefined;
  for (const piece of inside.split(",")) {
    const [name, of] = piece.call() ?? notImported(piece, "a key has its value in parentheses");
    if (name === "header") header = of;
    if (name === "out_port") port = of;
  }
  if (header === undefined || port === undefined) return notImported(inside, "header and out_port are missing");
  return { kind: "encap", data: hexOf(header), port: port.unquoted(), place: inside.place };
}
