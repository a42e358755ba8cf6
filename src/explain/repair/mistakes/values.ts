/** Values and masks that no packet of the intended kind has. */
import { ones } from "../../../base/bits.js";
import { fullMask } from "../../../model/match/term.js";
import { rangeText, termText, valueText } from "../../match/notation.js";
import type { Facts, TermFact } from "../facts.js";
import type { Detector } from "../finding.js";
import { aboutValues, differs, getsThere, isPresentTerm, leavesOut, takesFound, type PresentTerm } from "./terms.js";
import { reversedBytes } from "./byteOrder.js";

/** Fields whose value 0 no packet has, or no rule means. */
const NEVER_ZERO =
  /\.(ethertype|[sd]mac|ip_version|ipv[46]_(src|dst)|(tcp|udp)_[sd]port|sctp_[sd]port|gre_protocol|geneve_protocol_type|ip_ttl_hoplimit|gtpu_msg_type)$|_esp_spi$/;

function present({ failing }: Facts): PresentTerm[] {
  return failing.filter(isPresentTerm);
}

const maskWithoutValue: Detector = {
  name: "mask-without-value",
  detect: (facts) =>
    aboutValues(
      present(facts).filter(
        ({ field, mask, value }) => value === 0n && mask === fullMask(field) && NEVER_ZERO.test(field.name),
      ),
      ({ field, found }) =>
        `${field.name} is masked, but its value is 0, and the frame has ${valueText(field, found)}. Fill in the value, or leave the field out of the mask.`,
    ),
};

const protocolZero: Detector = {
  name: "mask-without-value",
  detect(facts) {
    const term = facts.failed("outer.ip_protocol") ?? facts.failed("inner.ip_protocol");
    if (term === undefined || !isPresentTerm(term) || term.mask !== 0xffn || term.value !== 0n) return null;
    if (facts.there.headers.some(({ header }) => header === "ipv6_hop_by_hop")) return null;
    return {
      sentence: `${term.name} is masked, but its value is 0, and the frame has ${valueText(term.field, term.found)}. 0 does not mean "any protocol": fill in the value, or leave the field out of the mask.`,
      changes: [leavesOut(term)],
    };
  },
};

/** Widths that programs cut numbers to. */
const CUTS = [8n, 16n];

const cutOff: Detector = {
  name: "value-cut-off",
  detect: (facts) =>
    aboutValues(
      present(facts).filter(({ field, mask, value, found }) => {
        if (field.kind !== "number" || mask !== fullMask(field) || value < 16n) return false;
        return CUTS.some((bits) => found >> bits !== 0n && (found & ((1n << bits) - 1n)) === value);
      }),
      (term) => {
        const bits = term.value > 0xffn ? 16 : (term.found & 0xffn) === term.value ? 8 : 16;
        return `${differs(term)}: ${term.value} is the low ${bits} bits of ${term.found}. The value was stored in a variable that is too small.`;
      },
    ),
};

const geneveLength: Detector = {
  name: "geneve-length-in-bytes",
  detect(facts) {
    const { rule } = facts.context;
    const [term, ...others] = facts.failing;
    if (rule === null || term?.name !== "misc.geneve_opt_len" || others.length > 0 || !isPresentTerm(term)) return null;
    const changes = [takesFound(term)];
    if (term.found === 0n || term.value !== 4n * term.found || !getsThere(facts, rule, changes)) return null;
    return {
      sentence: `${differs(term)}: the length of Geneve options counts 4-byte words, and the frame has ${term.value} bytes of them.`,
      changes,
    };
  },
};

const ecnInTos: Detector = {
  name: "ecn-in-tos",
  detect(facts) {
    for (const level of ["outer", "inner"] as const) {
      const term = facts.failed(`${level}.ip_ecn`);
      if (term === undefined || term.found === null || facts.term(`${level}.ip_dscp`)?.agrees !== true) continue;
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}, and the frame has ${term.found}: the rule matches the whole TOS byte, and its low two bits are ECN, which senders and routers set. Mask the DSCP only (0xfc).`,
        changes: [leavesOut(term)],
      };
    }
    return null;
  },
};

const hexOrDecimal: Detector = {
  name: "hex-or-decimal",
  detect: (facts) =>
    aboutValues(
      present(facts).filter(({ field, mask, value, found }) => {
        if (field.kind !== "number" || mask !== fullMask(field) || value < 10n || found < 10n) return false;
        return value.toString(16) === found.toString() || value.toString() === found.toString(16);
      }),
      (term) => {
        const isHex = term.value.toString(16) === term.found.toString();
        const is = isHex ? `0x${term.value.toString(16)} is ${term.value}` : `0x${term.value} is ${term.found}`;
        return `${differs(term)}: ${is}. One of them was written in the wrong base.`;
      },
    ),
};

const exactFlags: Detector = {
  name: "tcp-flags-exact",
  detect({ failing }) {
    const term = failing.filter(isPresentTerm).find(({ name }) => name.endsWith(".tcp_flags"));
    if (term === undefined || term.value === 0n || (term.found & term.value) !== term.value) return null;
    const after = termText(term.field, term.value, term.value);
    return {
      sentence: `${differs(term)}: all expected flags are set, and so are others. Mask only the flags that matter: ${after}.`,
      changes: [{ field: term.name, before: term.wanted, after }],
    };
  },
};

const decremented: Detector = {
  name: "ttl-after-decrement",
  detect: (facts) =>
    aboutValues(
      present(facts).filter(
        ({ field, value, found }) => /ttl/.test(field.name) && value > found && value - found <= 3n,
      ),
      (term) =>
        `${differs(term)}: each router on the path, and each "dec_ttl" of an earlier rule, decrements it. Match the decremented value, or leave the field out.`,
    ),
};

/** The group bit and the bit of locally administered addresses, in a MAC address as a number. */
const GROUP = 1n << 40n;
const LOCAL = 2n << 40n;

const macBits: Detector = {
  name: "mac-group-bit",
  detect: (facts) =>
    aboutValues(
      present(facts).filter(({ field, mask, value, found }) => {
        const differing = (value ^ found) & mask;
        return field.kind === "mac" && differing !== 0n && (differing & ~(GROUP | LOCAL)) === 0n;
      }),
      (term) => {
        const group = (term.value ^ term.found) & GROUP;
        const bit =
          group === 0n ? "bit 0x02 of the first byte (locally administered)" : "bit 0x01 of the first byte (group)";
        return `${differs(term)}: the addresses differ only in ${bit}.`;
      },
    ),
};

/** MAC addresses of multicast groups: 01:00:5e and the low 23 bits (RFC 1112), 33:33 and the low 32 bits (RFC 2464). */
const multicastMac: Detector = {
  name: "multicast-mac",
  detect(facts) {
    const term = facts.failed("outer.dmac");
    if (term === undefined || !isPresentTerm(term) || term.mask !== fullMask(term.field)) return null;
    const [ipv4, ipv6] = [facts.found("outer.ipv4_dst"), facts.found("outer.ipv6_dst")];
    const derived = ipv4 === null ? null : (0x01005en << 24n) | (ipv4 & 0x7fffffn);
    if (ipv4 !== null && ipv4 >> 28n === 0xen && term.found === derived && term.value >> 24n === 0x01005en) {
      return {
        sentence: `${differs(term)}, which is the address of the group ${facts.foundText("outer.ipv4_dst")}: 01:00:5e and the low 23 bits of the group (RFC 1112).`,
        changes: [takesFound(term)],
      };
    }
    const isGroup = (ipv4 !== null && ipv4 >> 28n === 0xen) || (ipv6 !== null && ipv6 >> 120n === 0xffn);
    if (!isGroup || (term.value & GROUP) !== 0n || (term.found & GROUP) === 0n) return null;
    return {
      sentence: `${differs(term)}: a packet to a multicast group has the MAC address of the group, not that of a host.`,
      changes: [takesFound(term)],
    };
  },
};

/**
 * The mask that was meant by one that is no prefix: its inverse, its bytes in the opposite order, or what precedes its hole.
 * The frame agrees with the value in the bits that both masks keep; a number stays as it is.
 */
function meantMask(term: TermFact): bigint | undefined {
  const { field, mask, value, found } = term;
  const better = prefixFor(term);
  if (better === undefined || found === null) return undefined;
  const fits = isAddress(field) ? (found & mask & better) === (value & better) : (found & better) === value;
  return fits ? better : undefined;
}

function prefixFor({ field, mask, value }: TermFact): bigint | undefined {
  const { width } = field;
  if ((!isAddress(field) && width !== 16 && width !== 32) || mask === 0n || isPrefix(mask, width)) return undefined;
  const [inverse, reversed] = [fullMask(field) ^ mask, reversedBytes(mask, width / 8)];
  // The value under a wildcard mask has no bits of the network left.
  const order = value === 0n ? [inverse, reversed] : [reversed, inverse];
  const lowBits = isPrefix(inverse, width) || isPrefix(reversed, width);
  if (!isAddress(field)) return isPrefix(reversed, width) ? reversed : undefined;
  return lowBits ? order.find((one) => isPrefix(one, width)) : withoutHole(mask, width);
}

function isAddress({ kind }: TermFact["field"]): boolean {
  return kind === "ipv4" || kind === "ipv6";
}

/** The prefix with as many bits as a mask with a hole. */
function withoutHole(mask: bigint, width: number): bigint | undefined {
  const bits = mask.toString(2).replaceAll("0", "").length;
  return mask >> BigInt(width - 8) === 0xffn ? ones(width) ^ ones(width - bits) : undefined;
}

const invertedMask: Detector = {
  name: "inverted-mask",
  detect(facts) {
    for (const term of facts.failing) {
      const { field, mask, wanted, range, found } = term;
      const better = range === null ? meantMask(term) : undefined;
      if (better === undefined || found === null) continue;
      const after = termText(field, better, found & better);
      return {
        sentence: `${field.name} ${wanted} keeps the bits ${maskText(field, mask)}, which are no prefix: this is a wildcard mask, a mask with its bytes swapped, or one with a hole. A prefix keeps the high bits: ${maskText(field, better)}.`,
        changes: [{ field: field.name, before: wanted, after }],
      };
    }
    return null;
  },
};

function maskText(field: TermFact["field"], mask: bigint): string {
  return field.kind === "number" ? `0x${mask.toString(16)}` : valueText(field, mask);
}

function isPrefix(mask: bigint, width: number): boolean {
  const rest = ones(width) ^ mask;
  return mask !== 0n && (rest & (rest + 1n)) === 0n;
}

const besideRange: Detector = {
  name: "range-off-by-one",
  detect({ failing }) {
    const term = failing.find(({ range, found }) => {
      return range !== null && found !== null && (found === range.low - 1n || found === range.high + 1n);
    });
    if (term === undefined) return null;
    return {
      sentence: `The rule expects ${term.name} in ${term.wanted}, and the frame has ${term.found}, which is just outside. Both ends belong to the range.`,
      changes: [widenedBy(term)],
    };
  },
};

function widenedBy({ field, range, found, wanted }: TermFact): { field: string; before: string; after: string } {
  const { low, high } = range as { low: bigint; high: bigint };
  const at = found as bigint;
  return { field: field.name, before: wanted, after: rangeText(field, at < low ? at : low, at > high ? at : high) };
}

export const VALUES: readonly Detector[] = [
  maskWithoutValue,
  protocolZero,
  hexOrDecimal,
  geneveLength,
  ecnInTos,
  exactFlags,
  multicastMac,
  macBits,
  invertedMask,
  besideRange,
  decremented,
  cutOff,
];
