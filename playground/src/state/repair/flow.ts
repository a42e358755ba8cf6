/**
 * A verbs flow with other fields. Repairs name the fields of the device's match parameters; specs have
 * C names, and some of their fields hold several of the device: `tos` is DSCP and ECN.
 */
import type { FieldChange } from "flowsteer/explain";
import { documentOf, withValue } from "../../text/json.js";

type Spec = Record<string, unknown>;
type Filter = Record<string, string | number>;

/** A part of a spec's field, from its most significant bit. */
type Parts = readonly (readonly [field: string, bits: number])[];

/** Fields of specs by type; @ is the level. The reverse of what the engine makes of specs (docs/flows.md). */
const ADDRESSES = (version: number): Readonly<Record<string, string>> => ({
  src_ip: `@.ipv${version}_src`,
  dst_ip: `@.ipv${version}_dst`,
});
const PLAIN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  eth: { dst_mac: "@.dmac", src_mac: "@.smac", ether_type: "@.ethertype" },
  ipv4: ADDRESSES(4),
  ipv4_ext: { ...ADDRESSES(4), proto: "@.ip_protocol", ttl: "@.ip_ttl_hoplimit" },
  ipv6: {
    ...ADDRESSES(6),
    flow_label: "misc.@_ipv6_flow_label",
    next_hdr: "@.ip_protocol",
    hop_limit: "@.ip_ttl_hoplimit",
  },
  esp: { spi: "misc.@_esp_spi", seq: "ext.@_esp_seq" },
  tcp: { dst_port: "@.tcp_dport", src_port: "@.tcp_sport" },
  udp: { dst_port: "@.udp_dport", src_port: "@.udp_sport" },
  gre: { c_ks_res0_ver: "ext.gre_c_ks_res0_ver", protocol: "misc.gre_protocol", key: "misc.gre_key" },
  vxlan_tunnel: { tunnel_id: "misc.vxlan_vni" },
};
const TYPE_OF_SERVICE: Parts = [
  ["@.ip_dscp", 6],
  ["@.ip_ecn", 2],
];
const COMPOSED: Readonly<Record<string, Readonly<Record<string, Parts>>>> = {
  eth: {
    vlan_tag: [
      ["@.first_prio", 3],
      ["@.first_cfi", 1],
      ["@.first_vid", 12],
    ],
  },
  ipv4_ext: { tos: TYPE_OF_SERVICE },
  ipv6: { traffic_class: TYPE_OF_SERVICE },
  mpls: {
    label: [
      ["mpls_label", 20],
      ["mpls_exp", 3],
      ["mpls_s_bos", 1],
      ["mpls_ttl", 8],
    ],
  },
};

/** The protocol that a spec implies. */
const PROTOCOLS: Readonly<Record<string, string>> = { tcp: "tcp", udp: "udp", gre: "gre" };
const IPV4 = ["ipv4", "ipv4_ext"];

/** A number is written as one where the notation is its decimal digits. */
export function termValue(text: string): string | number {
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** The text with fields of a flow changed; null if specs cannot say it. */
export function withFlowChange(text: string, path: string, changes: readonly FieldChange[]): string | null {
  if (changes.length === 0) return text;
  const [, index] = /\[(\d+)\]$/.exec(path) ?? [];
  const { flows = [] } = documentOf(text) as { flows?: { type?: string; specs?: (Spec | string)[] }[] };
  const { type = "normal", specs: written = [] } = flows[Number(index)] ?? {};
  // What other types match follows from the type.
  if (type !== "normal") return null;
  const specs = new Specs(written.map((spec) => (typeof spec === "object" ? structuredClone(spec) : { [spec]: true })));
  if (!changes.every((change) => specs.change(change))) return null;
  return specs.writeTo(text, path, written);
}

class Specs {
  readonly #list: Spec[];

  constructor(list: Spec[]) {
    this.#list = list;
  }

  /** @returns whether specs can say it */
  change(change: FieldChange): boolean {
    const [, version] = /^(?:outer|inner)\.(ip_version|cvlan_tag)$/.exec(change.field) ?? [];
    if (version === "ip_version") return this.#version(change);
    // A VLAN tag in a spec implies it.
    if (version === "cvlan_tag") return change.after === null;
    if (change.field.endsWith(".ip_protocol")) return this.#protocol(change);
    return this.#plain(change) || this.#composed(change);
  }

  #plain({ field, after }: FieldChange): boolean {
    const inner = isInner(field);
    const types = Object.keys(PLAIN).filter((type) => keyOf(type, field, inner) !== undefined);
    const spec = this.#last(types, inner, (filter, type) => Object.hasOwn(filter, keyOf(type, field, inner) ?? ""));
    const [type] = types;
    if (type === undefined) return false;
    if (after === "any") return this.#require(type, inner, spec);
    if (spec === undefined) {
      if (after === null) return true;
      this.#list.push(level({ [type]: { [keyOf(type, field, inner) ?? ""]: termValue(after) } }, inner));
      return true;
    }
    const key = keyOf(spec.type, field, inner) ?? "";
    if (after === null) Reflect.deleteProperty(spec.filter, key);
    else spec.filter[key] = termValue(after);
    if (after === null && Object.keys(spec.filter).length === 0) this.#dropEmpty(spec);
    return true;
  }

  /** A header alone: its spec without fields. */
  #require(type: string, inner: boolean, spec: Found | undefined): boolean {
    if (spec === undefined) this.#list.push(level({ [type]: {} }, inner));
    else for (const key of Object.keys(spec.filter)) Reflect.deleteProperty(spec.filter, key);
    return true;
  }

  /** An empty spec still asks for its header; where the last field goes for want of the header, the spec goes. */
  #dropEmpty({ type, at }: Found): void {
    if (["esp", "vxlan_tunnel", "mpls", "eth"].includes(type)) this.#list.splice(at, 1);
  }

  #composed({ field, after }: FieldChange): boolean {
    const inner = isInner(field);
    for (const [type, keys] of Object.entries(COMPOSED)) {
      for (const [key, parts] of Object.entries(keys)) {
        const part = parts.findIndex(([name]) => composedName(name, field, inner));
        if (part < 0) continue;
        const spec = this.#last([type], inner);
        // tos is in two types of specs: the other may have it.
        if (spec === undefined && (type === "ipv4_ext" || after === null)) continue;
        const bits = withPart(spec?.filter[key], parts, part, after);
        if (bits === null) return false;
        const target = spec?.filter ?? this.#added(type, inner);
        if (bits === "") Reflect.deleteProperty(target, key);
        else target[key] = bits;
        return true;
      }
    }
    return false;
  }

  #added(type: string, inner: boolean): Filter {
    const filter: Filter = {};
    this.#list.push(level({ [type]: filter }, inner));
    return filter;
  }

  /** IP specs imply a version. */
  #version({ field, after }: FieldChange): boolean {
    const inner = isInner(field);
    const unwanted = after === "4" ? ["ipv6"] : after === "6" ? IPV4 : [...IPV4, "ipv6"];
    let old: Found | undefined;
    while ((old = this.#last(unwanted, inner)) !== undefined) this.#list.splice(old.at, 1);
    const wanted = after === "4" ? "ipv4" : "ipv6";
    if (after !== null && this.#last([...IPV4, "ipv6"], inner) === undefined) this.#added(wanted, inner);
    return after === null || after === "4" || after === "6";
  }

  /** Specs of upper layers imply a protocol. */
  #protocol({ field, after }: FieldChange): boolean {
    const inner = isInner(field);
    for (const [type, name] of Object.entries(PROTOCOLS)) {
      const spec = this.#last([type], type !== "gre" && inner);
      if (spec !== undefined && name !== after) this.#list.splice(spec.at, 1);
    }
    const named = this.#last(["ipv4_ext", "ipv6"], inner, (filter) => "proto" in filter || "next_hdr" in filter);
    if (named !== undefined) {
      const key = named.type === "ipv6" ? "next_hdr" : "proto";
      if (after === null) Reflect.deleteProperty(named.filter, key);
      else named.filter[key] = termValue(after);
      return true;
    }
    if (after === null) return true;
    const type = Object.keys(PROTOCOLS).find((one) => PROTOCOLS[one] === after);
    if (type !== undefined) {
      if (this.#last([type], type !== "gre" && inner) === undefined) this.#added(type, type !== "gre" && inner);
      return true;
    }
    const ip = this.#last([...IPV4, "ipv6"], inner);
    if (ip === undefined) return false;
    if (ip.type === "ipv6") ip.filter["next_hdr"] = termValue(after);
    else this.#list[ip.at] = level({ ipv4_ext: { ...ip.filter, proto: termValue(after) } }, inner);
    return true;
  }

  /** Of several specs for one header the last counts. */
  #last(
    types: readonly string[],
    inner: boolean,
    prefers: (filter: Filter, type: string) => boolean = () => true,
  ): Found | undefined {
    const found = this.#list.flatMap((spec, at): Found[] => {
      const type = types.find((one) => typeof spec[one] === "object");
      if (type === undefined || (spec["inner"] === true) !== inner) return [];
      return [{ type, at, filter: spec[type] as Filter }];
    });
    return found.findLast(({ filter, type }) => prefers(filter, type)) ?? found.at(-1);
  }

  /** Only specs that changed are written, where their number stays. */
  writeTo(text: string, path: string, before: readonly unknown[]): string {
    const after = this.#list.map((spec) => (spec["drop"] === true && Object.keys(spec).length === 1 ? "drop" : spec));
    if (before.length === 0) return withValue(text, path, "specs", after);
    if (before.length !== after.length) return withValue(text, `${path}.specs`, null, after);
    return after.reduce<string>((now, spec, i) => {
      if (JSON.stringify(spec) === JSON.stringify(before[i])) return now;
      return withValue(now, `${path}.specs[${i}]`, null, spec);
    }, text);
  }
}

interface Found {
  readonly type: string;
  readonly at: number;
  readonly filter: Filter;
}

function isInner(field: string): boolean {
  return /(?:^|\.)inner[._]/.test(field);
}

function level(spec: Spec, inner: boolean): Spec {
  return inner ? { ...spec, inner: true } : spec;
}

/** The field of a spec type that is a field of the device. */
function keyOf(type: string, field: string, inner: boolean): string | undefined {
  const fields = PLAIN[type] ?? {};
  return Object.keys(fields).find((key) => fields[key]?.replace("@", inner ? "inner" : "outer") === field);
}

/** Label stacks have names of their own for each tunnel. */
function composedName(name: string, field: string, inner: boolean): boolean {
  if (!name.startsWith("mpls")) return name.replace("@", inner ? "inner" : "outer") === field;
  return new RegExp(`_first_mpls(?:_over_\\w+?)?${name.slice(4)}$`).test(field);
}

/** A field of a spec with another part; "" where nothing of it is asked any more, null for what is no number. */
function withPart(
  now: string | number | undefined,
  parts: Parts,
  part: number,
  after: string | null,
): string | number | null {
  const width = parts.reduce((sum, [, bits]) => sum + bits, 0);
  const whole = 2 ** width - 1;
  const [value = 0, mask = now === undefined ? 0 : whole] = String(now ?? 0)
    .split("/")
    .map(Number);
  const own = parts[part]?.[1] ?? 0;
  const scale = 2 ** parts.slice(part + 1).reduce((sum, [, bits]) => sum + bits, 0);
  const [newValue = 0, newMask = 2 ** own - 1] = after === null ? [0, 0] : after.split("/").map(Number);
  if (![value, mask, newValue, newMask].every(Number.isInteger)) return null;
  const rest = (bits: number): number => bits - (Math.floor(bits / scale) % 2 ** own) * scale;
  const allMask = rest(mask) + newMask * scale;
  const allValue = rest(value) + newValue * scale;
  if (allMask === 0) return "";
  return allMask === whole ? allValue : `0x${allValue.toString(16)}/0x${allMask.toString(16)}`;
}
