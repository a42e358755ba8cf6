/** What a rule asks for, as items of testpmd's patterns. */
import { ones } from "../../../base/bits.js";
import { UDP_PORTS } from "../../../headers/announcers.js";
import type { HeaderName } from "../../../headers/record.js";
import { format, type Term } from "../../../model/match/term.js";
import { fieldNamed } from "../../../model/match/fields.js";
import { NotExported, type Terms } from "../../writing/terms.js";
import { FIRST_TAG, INTEGRITY, LAST_TAG, registerOfMeta } from "../fields/metadata.js";
import { WRITTEN_ITEMS, type WrittenField } from "./items.js";

type Level = "outer" | "inner";
export type Version = 4 | 6 | undefined;

export interface Pattern {
  /** The items, without `end`. */
  readonly text: string;
  readonly version: Version;
  /** TCP or UDP of the outer packet, where the rule asks for it. */
  readonly upper: string | undefined;
  readonly tunnel: string | undefined;
}

export interface PatternPlace {
  readonly domain: "nic_rx" | "nic_tx" | "fdb";
  readonly option: { readonly class: number; readonly type: number } | undefined;
}

/** The tunnels that a pattern can have, and the item before each. */
const TUNNELS = ["vxlan", "vxlan-gpe", "gre", "geneve", "gtpu"] as const;
const UPPER = ["tcp", "udp", "sctp", "icmp", "icmp6", "esp"] as const;

/** Fields of an IP header that both versions have. */
const IP = ["ip_protocol", "ip_dscp", "ip_ecn", "ip_ttl_hoplimit"];

/**
 * The patterns of a rule: two where it leaves the IP version open but asks for its fields, or for what follows IP, which
 * mlx5 takes behind an item of IP only. @throws NotExported
 */
export function patternsOf(terms: Terms, place: PatternPlace): Pattern[] {
  const upper = upperOf(terms, "outer");
  const open = versionOf(terms, "outer") === undefined && (asksIp(terms, "outer") || upper.length > 0);
  if (!open) return [new Writer(terms, place).pattern()];
  const versions = upper.includes("icmp") ? [4n] : upper.includes("icmp6") ? [6n] : [4n, 6n];
  return versions.map((value) => {
    const version = { kind: "bits" as const, mask: 15n, value };
    return new Writer(new Map([...terms, ["outer.ip_version", version]]), place).pattern();
  });
}

/** The items of what follows IP that terms need. */
function upperOf(terms: Pick<Terms, "has">, level: Level): string[] {
  return UPPER.filter((item) => needs(terms, item, level));
}

function needs(terms: Pick<Terms, "has">, item: string, level: Level): boolean {
  return Object.values(WRITTEN_ITEMS[item] ?? {}).some(({ match }) => terms.has(match.replace("{}", level)));
}

function asksIp(terms: Terms, level: Level): boolean {
  return IP.some((one) => terms.has(`${level}.${one}`)) || isBit(terms.get(`${level}.frag`), 1n);
}

function versionOf(terms: Terms, level: Level): Version {
  const asked = terms.get(`${level}.ip_version`);
  if (asked?.kind === "bits" && asked.mask === 15n) {
    if (asked.value === 4n) return 4;
    if (asked.value === 6n) return 6;
    throw new NotExported("there are items for IPv4 and IPv6 only");
  }
  const has = (...names: readonly string[]): boolean => names.some((one) => terms.has(one));
  if (has(`${level}.ipv4_src`, `${level}.ipv4_dst`, `${level}.ipv4_ihl`, `ext.${level}_ipv4_flags`)) return 4;
  if (has(`${level}.ipv6_src`, `${level}.ipv6_dst`, `misc.${level}_ipv6_flow_label`)) return 6;
  return undefined;
}

function isBit(term: Term | undefined, value: bigint): boolean {
  return term?.kind === "bits" && term.mask !== 0n && term.value === value;
}

/** Writes the items of a pattern, and removes the terms that they express; no item expresses the others. */
class Writer {
  readonly #left: Map<string, Term>;
  readonly #items: string[] = [];

  constructor(
    readonly terms: Terms,
    readonly place: PatternPlace,
  ) {
    this.#left = new Map(terms);
  }

  pattern(): Pattern {
    this.#meta();
    const version = versionOf(this.terms, "outer");
    const { upper, tunnel } = this.#packet("outer", version);
    const isInner = [...this.#left.keys()].some((name) => /^inner\.|^(?:misc\d?|ext)\.inner_/.test(name));
    if (isInner) this.#inner(version, tunnel);
    const [left] = this.#left.keys();
    if (left !== undefined) throw new NotExported(`testpmd has no item for ${left} here`);
    const text = this.#items.length === 0 ? "eth" : this.#items.join(" / ");
    return { text, version, upper, tunnel };
  }

  #inner(version: Version, tunnel: string | undefined): void {
    const inner = versionOf(this.terms, "inner");
    const isIpInIp = tunnel === undefined && version !== undefined && inner !== undefined;
    if (isIpInIp && !isBit(this.terms.get("outer.ip_protocol"), inner === 4 ? 4n : 41n)) {
      throw new NotExported("testpmd asks for inner headers after a tunnel; the rule names none");
    }
    if (tunnel === undefined && !isIpInIp) {
      throw new NotExported("testpmd asks for inner headers after a tunnel; the rule names none");
    }
    if (
      inner === undefined &&
      (asksIp(this.terms, "inner") || upperOf(this.terms, "inner").length > 0 || !this.#hasL2("inner"))
    ) {
      throw new NotExported("the rule leaves the inner IP version open; a pattern has the item of one");
    }
    this.#packet("inner", inner);
  }

  #hasL2(level: Level): boolean {
    const has = ["dmac", "smac", "ethertype", "first_vid", "first_prio", "first_cfi", "cvlan_tag", "svlan_tag"];
    return has.some((one) => this.terms.has(`${level}.${one}`));
  }

  /** The items of one packet. */
  #packet(level: Level, version: Version): { upper: string | undefined; tunnel: string | undefined } {
    if (level === "outer" || this.#hasL2(level)) this.#link(level);
    if (level === "outer" && this.#has("mpls", level)) this.#add("mpls", level);
    if (version !== undefined) this.#ip(level, version);
    const asked = upperOf(this.#left, level);
    if (asked.length > 1) throw new NotExported(`a frame has one of ${asked.join(" and ")}`);
    const [upper] = asked;
    if (upper !== undefined) this.#add(upper, level);
    return { upper, tunnel: level === "outer" ? this.#tunnel(upper) : undefined };
  }

  #has(item: string, level: Level): boolean {
    return needs(this.#left, item, level);
  }

  #link(level: Level): void {
    const first = `misc.${level}_second`;
    const tags = [`${first}_vid`, `${first}_prio`, `${first}_cfi`, `${first}_cvlan_tag`, `${first}_svlan_tag`];
    const hasSecond = tags.slice(0, 3).some((one) => this.#left.has(one));
    const hasFirst = hasSecond || this.#has("vlan", level) || tags.some((one) => this.#left.has(one));
    const own = this.#tagType(`${level}.cvlan_tag`, `${level}.svlan_tag`);
    const second = this.#tagType(`${first}_cvlan_tag`, `${first}_svlan_tag`);
    const needsTag = hasFirst || (own !== undefined && own !== "none" && this.#left.has(`${level}.ethertype`));
    const ethernet = own === "none" ? ["has_vlan is 0"] : own === undefined ? [] : [`type is ${own}`];
    if (!needsTag) ethernet.push(...this.#etherType(level, "type"));
    this.#add("eth", level, ethernet);
    if (!needsTag) return;
    const more = second === "none" ? ["has_more_vlan is 0"] : second === undefined ? [] : [`inner_type is ${second}`];
    const needsSecond =
      hasSecond || (second !== undefined && second !== "none" && this.#left.has(`${level}.ethertype`));
    if (!needsSecond) more.push(...this.#etherType(level, "inner_type"));
    this.#add("vlan", level, more);
    if (needsSecond) this.#add("second vlan", level, this.#etherType(level, "inner_type"));
  }

  /** The type of a tag that must be there, "none", or undefined where the rule does not say. */
  #tagType(customer: string, service: string): string | undefined {
    const [c, s] = [this.#take(customer), this.#take(service)];
    if (isBit(c, 0n) && isBit(s, 0n)) return "none";
    if (isBit(c, 1n) && (s === undefined || isBit(s, 0n))) return "0x8100";
    if (isBit(s, 1n) && (c === undefined || isBit(c, 0n))) return "0x88a8";
    if (c === undefined && s === undefined) return undefined;
    throw new NotExported("an item asks for no tag, or for a tag of one type");
  }

  #etherType(level: Level, name: string): string[] {
    const term = this.#take(`${level}.ethertype`);
    if (term?.kind === "bits" && term.mask === 0xffffn && (term.value === 0x8100n || term.value === 0x88a8n)) {
      throw new NotExported("the EtherType of a tag after the last tag");
    }
    return term === undefined ? [] : fieldText(name, term, 16);
  }

  #ip(level: Level, version: 4 | 6): void {
    this.#take(`${level}.ip_version`);
    const parts: string[] = [];
    const [dscp, ecn] = [this.#take(`${level}.ip_dscp`), this.#take(`${level}.ip_ecn`)];
    if (dscp?.kind === "range" || ecn?.kind === "range") throw new NotExported("an item has no range of DSCP or ECN");
    const [high, low] = [bitsOf(dscp), bitsOf(ecn)];
    const mask = (high.mask << 2n) | low.mask;
    const service: Term = { kind: "bits", mask, value: (high.value << 2n) | low.value };
    if (mask !== 0n) parts.push(...fieldText(version === 4 ? "tos" : "tc", service, 8));
    parts.push(...(version === 4 ? [...this.#fragment4(level), ...this.#length4(level)] : this.#fragment6(level)));
    this.#add(`ipv${version}`, level, parts);
  }

  #fragment4(level: Level): string[] {
    const frag = this.#take(`${level}.frag`);
    const flags = this.#take(`ext.${level}_ipv4_flags`);
    if (flags?.kind === "range") throw new NotExported("an item has no range of IPv4 flags");
    const { mask, value } = bitsOf(flags);
    if (frag === undefined || frag.kind !== "bits" || frag.mask === 0n) {
      return mask === 0n
        ? []
        : [`fragment_offset spec ${hex(value << 13n)}`, `fragment_offset mask ${hex(mask << 13n)}`];
    }
    if (frag.value === 0n && (mask & value & 1n) === 0n) {
      return [`fragment_offset spec ${hex(value << 13n)}`, `fragment_offset mask ${hex((mask << 13n) | 0x3fffn)}`];
    }
    if (mask !== 0n) throw new NotExported("an item does not ask for fragments and for IPv4 flags");
    return ["fragment_offset spec 1", "fragment_offset last 0x3fff", "fragment_offset mask 0x3fff"];
  }

  /** The version is in the same field. */
  #length4(level: Level): string[] {
    const length = this.#take(`${level}.ipv4_ihl`);
    if (length?.kind === "range") throw new NotExported("an item has no range of header lengths");
    const { mask, value } = bitsOf(length);
    return mask === 0n ? [] : [`version_ihl spec ${hex(value)}`, `version_ihl mask ${hex(mask)}`];
  }

  #fragment6(level: Level): string[] {
    const frag = this.#take(`${level}.frag`);
    return frag?.kind === "bits" && frag.mask !== 0n ? [`has_frag_ext is ${frag.value}`] : [];
  }

  #tunnel(upper: string | undefined): string | undefined {
    const asked: string[] = TUNNELS.filter((name) => this.#has(name, "outer"));
    const isGre = this.#has("gre_key", "outer") || this.#has("mpls over gre", "outer");
    if (isGre && !asked.includes("gre")) asked.push("gre");
    if (this.#has("mpls over udp", "outer")) asked.push("udp");
    if (asked.length > 1) throw new NotExported(`a frame has one of ${asked.join(" and ")}`);
    const [tunnel] = asked;
    if (tunnel === undefined) return undefined;
    const port = this.terms.get("outer.udp_dport");
    const own = UDP_PORTS[tunnel.replace("-", "_") as HeaderName];
    if (own !== undefined && port?.kind === "bits" && port.mask === 0xffffn && port.value !== BigInt(own)) {
      throw new NotExported(`no frame hits it: the header of ${tunnel} is on UDP port ${own}`);
    }
    if (tunnel !== "udp") this.#add(tunnel, "outer");
    else if (upper !== "udp") this.#add("udp", "outer");
    if (tunnel === "gre" && this.#has("gre_key", "outer")) this.#add("gre_key", "outer");
    if (tunnel === "gre" && this.#has("mpls over gre", "outer")) this.#add("mpls over gre", "outer");
    if (tunnel === "udp") this.#add("mpls over udp", "outer");
    if (tunnel === "geneve") this.#option();
    if (tunnel === "gtpu") this.#extension();
    return tunnel;
  }

  #option(): void {
    const exists = this.#take("misc.geneve_tlv_option_0_exist");
    const data = this.#take("misc3.geneve_tlv_option_0_data");
    if (exists === undefined && data === undefined) return;
    const { option } = this.place;
    if (option === undefined || !(exists === undefined || isBit(exists, 1n)) || data?.kind === "range") {
      throw new NotExported("an item asks for an option that the device declares, and for its bits");
    }
    const { mask, value } = bitsOf(data);
    const bytes = (bits: bigint): string => `0x${bits.toString(16).padStart(8, "0")}`;
    const word = mask === 0n ? [] : [`data spec ${bytes(value)}`, `data mask ${bytes(mask)}`];
    const parts = [`class is ${option.class}`, `type is ${option.type}`, "length is 1", ...word];
    this.#items.push(`geneve-opt ${parts.join(" ")}`);
  }

  #extension(): void {
    const first = this.#take("misc3.gtpu_first_ext_dw_0");
    const next = this.#take("misc3.gtpu_dw_2");
    if (first === undefined && next === undefined) return;
    const isSession = next?.kind === "bits" && next.mask === 0xffn && next.value === 0x85n;
    const { mask, value } = bitsOf(first);
    if (!isSession || first === undefined || first.kind === "range" || (mask & ~0xf03f00n) !== 0n) {
      throw new NotExported("an item asks for the type and the QFI of an extension header of type 0x85");
    }
    const part = (from: bigint, bits: number): Term => ({
      kind: "bits",
      mask: (mask >> from) & ones(bits),
      value: (value >> from) & ones(bits),
    });
    const parts = [
      ...(part(8n, 6).kind === "bits" ? fieldText("qfi", part(8n, 6), 6) : []),
      ...fieldText("pdu_t", part(20n, 4), 4),
    ];
    this.#items.push(["gtp_psc", ...parts].join(" "));
  }

  /** Items that stand for no header: ports, registers, results of checks. */
  #meta(): void {
    const register = (match: string, item: string): void => {
      const term = this.#take(match);
      if (term === undefined) return;
      const parts = fieldText("data", term, 32);
      if (parts.length === 0) return;
      this.#items.push(
        `${item} ${parts.join(" ")}${item === "tag" ? ` index is ${Number(match.at(-1)) - FIRST_TAG}` : ""}`,
      );
    };
    for (let n = FIRST_TAG; n <= LAST_TAG; n++) register(`misc2.metadata_reg_c_${n}`, "tag");
    register(registerOfMeta(this.place.domain), "meta");
    for (const level of ["outer", "inner"] as const) {
      let [mask, value] = [0n, 0n];
      for (const [bit, name] of Object.entries(INTEGRITY)) {
        const asked = bitsOf(this.#take(`${level}.${name}`));
        mask |= asked.mask << BigInt(bit);
        value |= asked.value << BigInt(bit);
      }
      const of = level === "outer" ? 1 : 2;
      if (mask !== 0n) this.#items.push(`integrity level is ${of} value spec ${hex(value)} value mask ${hex(mask)}`);
    }
  }

  #take(name: string): Term | undefined {
    const term = this.#left.get(name);
    this.#left.delete(name);
    return term;
  }

  /** Adds an item with those of its fields that the rule asks for. */
  #add(item: string, level: Level, more: readonly string[] = []): void {
    const parts = [...more];
    for (const [name, field] of Object.entries(WRITTEN_ITEMS[item] ?? {}))
      parts.push(...this.#field(name, field, level));
    const [word = ""] = item.replace("second ", "").split(" ");
    this.#items.push([word, ...parts].join(" "));
  }

  #field(name: string, field: WrittenField, level: Level): string[] {
    const match = field.match.replace("{}", level);
    const term = this.#left.get(match);
    if (term === undefined) return [];
    const { bits, from } = field;
    const own = ones(bits) << BigInt(from);
    if (term.kind === "bits" && term.mask !== 0n) {
      const rest = term.mask & ~own;
      if (rest === 0n) this.#left.delete(match);
      else this.#left.set(match, { kind: "bits", mask: rest, value: term.value & rest });
      const part: Term = {
        kind: "bits",
        mask: (term.mask & own) >> BigInt(from),
        value: (term.value & own) >> BigInt(from),
      };
      return fieldText(name, part, bits, match);
    }
    this.#left.delete(match);
    return fieldText(name, term, bits, match);
  }
}

function bitsOf(term: Term | undefined): { mask: bigint; value: bigint } {
  return term?.kind === "bits" ? term : { mask: 0n, value: 0n };
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** A field of an item. One that may hold anything asks for its header only: it has no text. */
function fieldText(name: string, term: Term, bits: number, match = ""): string[] {
  const field = fieldNamed(match);
  const text = (value: bigint): string => {
    if (field !== undefined && field.kind !== "number") return format(field, value);
    return value > 9n ? hex(value) : String(value);
  };
  if (term.kind === "any") return [];
  if (term.kind === "range") {
    return [`${name} spec ${text(term.low)}`, `${name} last ${text(term.high)}`, `${name} mask ${text(ones(bits))}`];
  }
  if (term.mask === 0n) return [];
  if (term.mask === ones(bits)) return [`${name} is ${text(term.value)}`];
  return [`${name} spec ${text(term.value)}`, `${name} mask ${text(term.mask)}`];
}
