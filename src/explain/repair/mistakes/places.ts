/** Values that the frame has, in another field than the rule looks at. */
import { format, fullMask } from "../../../model/match/term.js";
import { fieldNamed, type FieldName } from "../../../model/match/fields.js";
import { termText } from "../../match/notation.js";
import type { FieldChange } from "../../trace/trace.js";
import { named, type Facts, type TermFact } from "../facts.js";
import type { Detector } from "../finding.js";
import { moves } from "./terms.js";

/** Pairs of fields that are easily taken for each other; @ is the level. */
const PAIRS: readonly (readonly [what: string, name: string, a: string, b: string])[] = [
  ["source and destination port", "ports-swapped", "@.tcp_sport", "@.tcp_dport"],
  ["source and destination port", "ports-swapped", "@.udp_sport", "@.udp_dport"],
  ["source and destination address", "addresses-swapped", "@.ipv4_src", "@.ipv4_dst"],
  ["source and destination address", "addresses-swapped", "@.ipv6_src", "@.ipv6_dst"],
  ["source and destination MAC address", "addresses-swapped", "@.smac", "@.dmac"],
  ["type and code", "type-and-code-swapped", "misc3.icmp_type", "misc3.icmp_code"],
  ["type and code", "type-and-code-swapped", "misc3.icmpv6_type", "misc3.icmpv6_code"],
];

/** Whether a value of the frame would satisfy a term of another field. */
export function takes({ mask, value, range }: TermFact, found: bigint | null): boolean {
  if (found === null) return false;
  return range === null ? (found & mask) === value : range.low <= found && found <= range.high;
}

/** Terms that say much: a whole value, most bits of an address, or a range. */
function saysMuch({ field, mask, value, range }: TermFact): boolean {
  if (range !== null) return true;
  return value !== 0n && (mask === fullMask(field) || mask.toString(2).replaceAll("0", "").length >= 16);
}

/** A term that, alone, tells one end from the other: a host or a small network. */
function isSpecific(term: TermFact): boolean {
  const { field, mask, range } = term;
  const bits = mask.toString(2).replaceAll("0", "").length;
  return saysMuch(term) && (range !== null || bits >= Math.min(field.width, field.kind === "ipv6" ? 64 : 24));
}

/** Leading bits that networks of one site share. */
const SITE_BITS = { ipv4: 16, ipv6: 48 } as const;

/** Whether a network is of the site of the frame's own address: the other address may lie in it by chance. */
function isNeighbour({ field, mask, value, found, range }: TermFact): boolean {
  if (range !== null || found === null || (field.kind !== "ipv4" && field.kind !== "ipv6")) return false;
  const shift = BigInt(field.width - SITE_BITS[field.kind]);
  return mask !== fullMask(field) && (found ^ value) >> shift === 0n;
}

/** Fields whose terms the frame fails, and would match in each other's place. */
interface Swapped {
  readonly what: string;
  readonly wanted: readonly TermFact[];
  readonly fields: readonly [FieldName, FieldName];
  readonly changes: readonly FieldChange[];
}

function swappedIn(facts: Facts, [a, b]: readonly [FieldName, FieldName], what: string): Swapped | null {
  const [first, second] = [facts.term(a), facts.term(b)];
  const wanted = [first, second].filter((term) => term !== undefined);
  if (wanted.length === 0 || wanted.some(({ agrees }) => agrees)) return null;
  // Networks that both ends lie in are no evidence.
  if (wanted.length === 1 && !wanted.every((term) => isSpecific(term) && !isNeighbour(term))) return null;
  const isType = a.endsWith("_type");
  for (const [term, other] of [
    [first, b],
    [second, a],
  ] as const) {
    if (term !== undefined && (!(isType || saysMuch(term)) || !takes(term, facts.found(other)))) return null;
  }
  const changes: FieldChange[] = [
    { field: a, before: first?.wanted ?? null, after: second?.wanted ?? null },
    { field: b, before: second?.wanted ?? null, after: first?.wanted ?? null },
  ];
  return { what, wanted, fields: [a, b], changes };
}

/** Whether the frame hit another rule that matches these fields: it is what that rule is for. */
function hasOwnRule({ context: { lookup } }: Facts, fields: readonly string[]): boolean {
  return fields.every((field) => lookup?.matched.some((one) => one.field === field) === true);
}

/** All pairs of a level that are swapped, where nothing else differs. */
function swappedPairs(facts: Facts, level: string): readonly (Swapped & { readonly name: string })[] {
  const found = PAIRS.flatMap(([what, name, ...pair]) => {
    const fields = pair.map((field) => field.replace("@", level)) as [FieldName, FieldName];
    const swapped = swappedIn(facts, fields, what);
    return swapped === null ? [] : { ...swapped, name };
  });
  const fields = found.flatMap((one) => one.fields) as readonly string[];
  return facts.failing.every(({ name }) => fields.includes(name)) && !hasOwnRule(facts, fields) ? found : [];
}

/** Whether the frame has a tunnel over UDP. */
export function isUdpTunnel({ there }: Facts): boolean {
  return there.headers.some(({ header }) => ["vxlan", "vxlan_gpe", "geneve"].includes(header));
}

/** Whether only the source port of a tunnel over UDP differs: no reply has the ports of a tunnel the other way round. */
function isTunnelSource(facts: Facts, { wanted, fields: [source] }: Swapped): boolean {
  return source === "outer.udp_sport" && wanted.length === 1 && wanted[0]?.name === source && isUdpTunnel(facts);
}

/** One detector for each name: a level and a pair at a time. */
function pairDetector(name: string): Detector {
  return {
    name,
    detect(facts) {
      for (const level of ["outer", "inner"]) {
        const all = swappedPairs(facts, level);
        const first = all.find((one) => one.name === name);
        if (first === undefined || isTunnelSource(facts, first)) continue;
        const texts = first.fields.map((field) => `${field} ${facts.foundText(field)}`).join(" and ");
        const replies = name === "type-and-code-swapped" ? "" : " Replies have them the other way round.";
        return {
          sentence: `The rule expects ${first.wanted.map((term) => `${term.name} ${term.wanted}`).join(" and ")}, and the frame has ${texts}: ${first.what} are swapped.${replies}`,
          changes: all.flatMap(({ changes }) => changes),
        };
      }
      return null;
    },
  };
}

const LEVELS: readonly (readonly [outer: string, inner: string])[] = [
  ["outer.", "inner."],
  ["misc.outer_", "misc.inner_"],
  ["misc2.outer_first_mpls_", "misc2.inner_first_mpls_"],
  ["misc3.outer_tcp_", "misc3.inner_tcp_"],
];

/** The field of the other level; undefined for fields of one level. */
export function otherLevel(name: string): string | undefined {
  for (const [outer, inner] of LEVELS) {
    const other = name.startsWith(outer)
      ? name.replace(outer, inner)
      : name.startsWith(inner)
        ? name.replace(inner, outer)
        : "";
    if (other !== "" && fieldNamed(other) !== undefined) return other;
  }
  return undefined;
}

const levelSwapped: Detector = {
  name: "inner-outer-swapped",
  detect(facts) {
    const { failing } = facts;
    // Without a tunnel, inner fields are another mistake.
    if (!facts.there.headers.some(({ level }) => level === "inner")) return null;
    const moved = failing.map((term) => ({ term, to: otherLevel(term.name) }));
    const other = moved.filter(({ term, to }) => to !== undefined && takes(term, facts.found(to as FieldName)));
    const [first] = other.filter(({ term }) => saysMuch(term));
    if (first === undefined || other.length < failing.filter(({ name }) => otherLevel(name) !== undefined).length) {
      return null;
    }
    const { term, to = "" } = first;
    const level = term.name.startsWith("inner") || term.name.includes(".inner_") ? "inner" : "outer";
    const others = level === "inner" ? "outer" : "inner";
    return {
      sentence: `The rule expects ${term.name} = ${term.wanted}, and the frame has this in ${to}: the rule matches the ${level} packet, and the frame carries the value in its ${others} packet.`,
      changes: other.flatMap((one) => moves(one.term, one.to ?? "")),
    };
  },
};

const vlanOrder: Detector = {
  name: "vlan-order",
  detect(facts) {
    for (const level of ["outer", "inner"] as const) {
      const [a, b] = [`${level}.first_vid`, `misc.${level}_second_vid`] as [FieldName, FieldName];
      const [first, second] = [facts.term(a), facts.term(b)];
      const terms = [first, second].filter((term) => term !== undefined);
      if (!terms.some((term) => !term.agrees) || terms.some((term) => term.found === null && facts.found(a) === null)) {
        continue;
      }
      const [hasFirst, hasSecond] = [facts.found(a), facts.found(b)];
      if (terms.length === 0 || !terms.every((term) => takes(term, term === first ? hasSecond : hasFirst))) continue;
      // Where something else differs, or another rule is for this order, the order is not the cause.
      if (!facts.failing.every(({ name }) => name === a || name === b) || hasOwnRule(facts, [a, b])) continue;
      const text = (name: FieldName): string => facts.foundText(name);
      return {
        sentence: `The rule expects ${terms.map((term) => `${term.name} ${term.wanted}`).join(" and ")}, and the frame has ${a} ${text(a)} and ${b} ${text(b)}: the tags are in the opposite order. The first tag is the outermost one, the service tag of QinQ.`,
        changes: [
          { field: a, before: first?.wanted ?? null, after: second?.wanted ?? null },
          { field: b, before: second?.wanted ?? null, after: first?.wanted ?? null },
        ],
      };
    }
    return null;
  },
};

/** ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). */
const MAPPED = 0xffffn << 32n;

const mappedAddress: Detector = {
  name: "ipv4-mapped-address",
  detect(facts) {
    for (const term of facts.failing) {
      const { name, field, mask, value, range } = term;
      if (range !== null || field.kind !== "ipv6" || mask !== fullMask(field) || value >> 32n !== MAPPED >> 32n)
        continue;
      const to = name.replace("ipv6_", "ipv4_") as FieldName;
      const found = facts.found(to);
      if (found === null) continue;
      const inIpv4 = format(named(to), value & 0xffffffffn);
      if (found !== (value & 0xffffffffn)) continue;
      const version = facts.failed(`${name.split(".")[0]}.ip_version` as FieldName);
      return {
        sentence: `The rule expects ${name} = ${term.wanted}, the IPv6 form of an IPv4 address, and the frame is IPv4 with ${to} ${inIpv4}. Sockets use such addresses; the packets are IPv4.`,
        changes: [
          { field: name, before: term.wanted, after: null },
          ...(version === undefined ? [] : [{ field: version.name, before: version.wanted, after: null }]),
          { field: to, before: null, after: termText(named(to), fullMask(named(to)), found) },
        ],
      };
    }
    return null;
  },
};

export const PLACES: readonly Detector[] = [
  pairDetector("ports-swapped"),
  pairDetector("addresses-swapped"),
  pairDetector("type-and-code-swapped"),
  vlanOrder,
  levelSwapped,
  mappedAddress,
];
