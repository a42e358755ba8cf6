/** Headers that the frame has not, or has where the rule does not look. */
import {
  ETHERTYPE_ARP,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
  PROTOCOL_ICMP,
  PROTOCOL_ICMPV6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../../abi/protocols.js";
import type { FieldName } from "../../../model/match/fields.js";
import type { FieldChange } from "../../trace/trace.js";
import type { Facts, TermFact } from "../facts.js";
import type { Detector, Finding } from "../finding.js";
import { leavesOut, moves } from "./terms.js";

const LEVELS = ["outer", "inner"] as const;
type Level = (typeof LEVELS)[number];

/** Fields of TCP (or UDP) that a rule masks at a level. */
function upperTerms({ terms }: Facts, level: Level, protocol: "tcp" | "udp"): TermFact[] {
  return terms.filter(
    ({ name }) => name.startsWith(`${level}.${protocol}_`) || name.startsWith(`misc3.${level}_${protocol}_`),
  );
}

function otherUpper(own: "tcp" | "udp", name: string): Detector {
  const other = own === "tcp" ? "udp" : "tcp";
  const [ownNumber, otherNumber] = own === "tcp" ? [PROTOCOL_TCP, PROTOCOL_UDP] : [PROTOCOL_UDP, PROTOCOL_TCP];
  return {
    name,
    detect(facts) {
      for (const level of LEVELS) {
        const terms = upperTerms(facts, level, own);
        const [first] = terms;
        if (first === undefined) continue;
        const protocol = facts.term(`${level}.ip_protocol`);
        const contradicts = protocol !== undefined && protocol.mask === 0xffn && protocol.value === BigInt(otherNumber);
        const isOther = facts.found(`${level}.${other}_dport`) !== null && first.found === null;
        const agreesWithOwn = protocol?.mask === 0xffn && protocol.value === BigInt(ownNumber);
        if (!contradicts && !isOther) continue;
        const [upper, otherUpperCase] = [own.toUpperCase(), other.toUpperCase()];
        const why = contradicts
          ? `the rule also expects ip_protocol ${otherNumber} (${other}), so no frame can match`
          : `the frame is ${otherUpperCase}`;
        const moved: FieldChange[] = terms.flatMap((term) => {
          const to = term.name.replace(`${own}_`, `${other}_`);
          return /_[sd]port$/.test(term.name) ? moves(term, to) : [leavesOut(term)];
        });
        if (agreesWithOwn) moved.push({ field: protocol.name, before: protocol.wanted, after: other });
        return {
          sentence: `${first.name} is a field of ${upper}, and ${why}. TCP and UDP have port fields of their own: for ${otherUpperCase} use ${level}.${other}_sport and ${level}.${other}_dport.`,
          changes: moved,
        };
      }
      return null;
    },
  };
}

const portsOfSctp: Detector = {
  name: "tcp-fields-for-sctp",
  detect(facts) {
    for (const level of LEVELS) {
      const terms = facts.failing.filter(({ name }) => new RegExp(`^${level}\\.(tcp|udp)_[sd]port$`).test(name));
      const [first] = terms;
      if (first === undefined || facts.found(`ext.${level}_sctp_dport`) === null) continue;
      const place = (name: string): string => name.replace(/^(.*)\.(?:tcp|udp)_/, "ext.$1_sctp_");
      const protocol = facts.failed(`${level}.ip_protocol`);
      const also: FieldChange[] =
        protocol === undefined ? [] : [{ field: protocol.name, before: protocol.wanted, after: "sctp" }];
      return {
        sentence: `${first.name} is a port of TCP or UDP, and the frame is SCTP, whose ports are fields of their own: match ${place(first.name)}.`,
        changes: [...terms.flatMap((term) => moves(term, place(term.name))), ...also],
      };
    }
    return null;
  },
};

const portsOfIcmp: Detector = {
  name: "ports-for-icmp",
  detect(facts) {
    for (const level of LEVELS) {
      const terms = facts.failing.filter(({ name }) => new RegExp(`^${level}\\.(tcp|udp)_[sd]port$`).test(name));
      const [first] = terms;
      const protocol = facts.found(`${level}.ip_protocol`);
      if (first === undefined || (protocol !== BigInt(PROTOCOL_ICMP) && protocol !== BigInt(PROTOCOL_ICMPV6))) continue;
      const icmp = protocol === BigInt(PROTOCOL_ICMP) ? "icmp" : "icmpv6";
      const wantsPorts = facts.failed(`${level}.ip_protocol`);
      return {
        sentence: `${first.name} is a port, and the frame is ${icmp === "icmp" ? "ICMP" : "ICMPv6"}, which has none. Match misc3.${icmp}_type and misc3.${icmp}_code.`,
        changes: [...terms, ...(wantsPorts === undefined ? [] : [wantsPorts])].map(leavesOut),
      };
    }
    return null;
  },
};

const fragment: Detector = {
  name: "fragment",
  detect(facts) {
    for (const level of LEVELS) {
      if (facts.found(`${level}.frag`) !== 1n) continue;
      const wantsWhole = facts.failed(`${level}.frag`);
      const upper = facts.failing.filter(({ name, found }) => {
        return found === null && /(tcp|udp|sctp|icmp|icmpv6|esp|vxlan|geneve|gtpu|bth|gre)_/.test(name);
      });
      const terms = wantsWhole === undefined ? upper : [wantsWhole, ...upper];
      const [first] = terms;
      if (first === undefined) continue;
      return {
        sentence:
          first === wantsWhole
            ? `The rule expects ${first.name} = 0, and the frame is a fragment.`
            : `${first.name} is in the header after IP, and the frame is a later fragment, which does not have that header. Only the first fragment has ports.`,
        changes: [...terms.map(leavesOut), ...protocolOf(facts, level, upper)],
      };
    }
    return null;
  },
};

const PROTOCOLS: readonly (readonly [fields: RegExp, protocol: string])[] = [
  [/(?:udp|vxlan|geneve|gtpu|bth)_/, "udp"],
  [/tcp_/, "tcp"],
  [/sctp_/, "sctp"],
  [/icmpv6_/, "icmpv6"],
  [/icmp_/, "icmp"],
  [/esp_/, "esp"],
  [/gre_/, "gre"],
];

/** The protocol of the header that a later fragment lacks: its IP header still says it. */
function protocolOf(facts: Facts, level: Level, upper: readonly TermFact[]): FieldChange[] {
  const field = `${level}.ip_protocol` as const;
  const [first] = upper;
  const after = PROTOCOLS.find(([fields]) => first !== undefined && fields.test(first.name))?.[1];
  return after === undefined || facts.term(field) !== undefined ? [] : [{ field, before: null, after }];
}

/** Terms about tags, by level. */
function tagTerms({ failing }: Facts, level: Level): TermFact[] {
  return failing.filter(({ name }) =>
    new RegExp(`^(${level}\\.(first_|[cs]vlan_tag)|misc\\.${level}_second_)`).test(name),
  );
}

const tagInFront: Detector = {
  name: "vlan-tag-in-front",
  detect(facts) {
    for (const level of LEVELS) {
      const unwanted = tagTerms(facts, level).find(
        ({ name, value, mask }) => /[cs]vlan_tag$/.test(name) && mask === 1n && value === 0n,
      );
      if (unwanted === undefined) continue;
      return {
        sentence: `The rule expects ${unwanted.name} = 0, and a VLAN tag precedes the packet (${level}.first_vid ${facts.foundText(`${level}.first_vid`)}).`,
        changes: [leavesOut(unwanted)],
      };
    }
    return null;
  },
};

const tagByType: Detector = {
  name: "vlan-by-ethertype",
  detect(facts) {
    for (const level of LEVELS) {
      const term = facts.failed(`${level}.ethertype`);
      if (term === undefined || term.mask !== 0xffffn) continue;
      if (term.value !== BigInt(TPID_CVLAN) && term.value !== BigInt(TPID_SVLAN)) continue;
      const tag = term.value === BigInt(TPID_CVLAN) ? "cvlan_tag" : "svlan_tag";
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}, the type of a VLAN tag, and the field has the type after the last tag: ${facts.foundText(`${level}.ethertype`)}. Match ${level}.${tag} 1 for tagged frames.`,
        changes: [
          leavesOut(term),
          { field: `${level}.${tag}`, before: facts.term(`${level}.${tag}`)?.wanted ?? null, after: "1" },
        ],
      };
    }
    return null;
  },
};

const tagKind: Detector = {
  name: "vlan-tag-kind",
  detect(facts) {
    for (const level of LEVELS) {
      for (const second of [false, true]) {
        const base = second ? `misc.${level}_second_` : `${level}.`;
        for (const [wanted, other, type] of [
          ["cvlan_tag", "svlan_tag", "0x8100, and the frame has a tag of 0x88a8"],
          ["svlan_tag", "cvlan_tag", "0x88a8, and the frame has a tag of 0x8100"],
        ] as const) {
          const term = facts.failed(`${base}${wanted}` as FieldName);
          if (term?.value !== 1n || facts.found(`${base}${other}` as FieldName) !== 1n) continue;
          return {
            sentence: `The rule expects ${term.name} = 1, a tag of ${type}. Match ${base}${other} 1 instead.`,
            changes: [
              leavesOut(term),
              {
                field: `${base}${other}`,
                before: facts.term(`${base}${other}` as FieldName)?.wanted ?? null,
                after: "1",
              },
            ],
          };
        }
      }
    }
    return null;
  },
};

const untagged: Detector = {
  name: "vlan-tag-missing",
  detect(facts) {
    for (const level of LEVELS) {
      const terms = tagTerms(facts, level);
      const hasTag = facts.there.headers.some((one) => one.header === "vlan" && one.level === level);
      const wants = terms.filter(
        ({ found, value, name }) =>
          (found === null && !hasTag) || (/[cs]vlan_tag$/.test(name) && value === 1n && !hasTag),
      );
      const [first] = wants;
      if (first === undefined) continue;
      const popped = facts.context.trace.steps.some((step) => step.kind === "action" && step.action === "pop_vlan");
      const why = popped ? "an earlier rule removed the VLAN tag of the frame" : "the frame has no VLAN tag";
      return {
        sentence: `The rule expects ${first.name} = ${first.wanted}, and ${why}.`,
        changes: wants.map(leavesOut),
      };
    }
    return null;
  },
};

/** Next headers that are extension headers of IPv6. */
const EXTENSIONS: Readonly<Record<number, string>> = {
  0: "hop-by-hop options",
  43: "a routing header",
  44: "a fragment header",
  51: "an authentication header",
  60: "destination options",
};

const extensionHeader: Detector = {
  name: "extension-header-as-protocol",
  detect(facts) {
    for (const level of LEVELS) {
      const term = facts.failed(`${level}.ip_protocol`);
      if (term === undefined || term.found === null || facts.found(`${level}.ipv6_dst`) === null) continue;
      const name = EXTENSIONS[Number(term.value)];
      if (term.mask !== 0xffn || name === undefined) continue;
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}, which is ${name} of IPv6, and the field has the protocol after all extension headers: ${facts.foundText(`${level}.ip_protocol`)}.`,
        changes: [{ field: term.name, before: term.wanted, after: facts.foundText(`${level}.ip_protocol`) }],
      };
    }
    return null;
  },
};

const otherVersion: Detector = {
  name: "other-ip-version",
  detect(facts) {
    const { failing } = facts;
    for (const level of LEVELS) {
      const found = facts.found(`${level}.ip_version`);
      if (found !== 4n && found !== 6n) continue;
      const other = found === 4n ? 6n : 4n;
      const own = failing.filter(({ name }) => name.startsWith(`${level}.`));
      const term =
        own.find(({ field }) => BigInt(field.version) === other) ??
        own.find(({ name, value }) => name.endsWith(".ip_version") && value === other);
      if (term === undefined) continue;
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}: the rule is for IPv${other}, and the frame is IPv${found}. Create one rule for each version.`,
      };
    }
    return null;
  },
};

/** Fields of ICMP on an ICMPv6 packet, or the other way round. */
function icmpVersions(own: "icmp" | "icmpv6", other: "icmp" | "icmpv6"): Detector {
  return {
    name: "other-icmp-version",
    detect(facts) {
      const terms = facts.failing.filter(({ name, found }) => found === null && name.startsWith(`misc3.${own}_`));
      const [first] = terms;
      if (first === undefined || facts.found(`misc3.${other}_type`) === null) return null;
      const [is, has] = own === "icmp" ? ["ICMP", "ICMPv6"] : ["ICMPv6", "ICMP"];
      return {
        sentence: `${first.name} is a field of ${is}, and the frame is ${has}. Their numbers differ too: echo requests are type 8 in ICMP and 128 in ICMPv6.`,
        changes: terms.map(leavesOut),
      };
    },
  };
}

const arpFrame: Detector = {
  name: "arp-has-no-ip",
  detect(facts) {
    const term = facts.failing.find(({ name, found }) => found === null && /^outer\.(ip|tcp_|udp_)/.test(name));
    if (term === undefined || facts.found("outer.ethertype") !== BigInt(ETHERTYPE_ARP)) return null;
    return {
      sentence: `${term.name} needs an IP header, and the frame is ARP, which has none. Hosts need ARP before they send IP: give it a rule of its own, outer.ethertype arp.`,
    };
  },
};

const labelInFront: Detector = {
  name: "mpls-in-front",
  detect(facts) {
    for (const level of LEVELS) {
      const term = facts.failed(`${level}.ethertype`);
      const found = facts.found(`${level}.ethertype`);
      if (term === undefined || (found !== BigInt(ETHERTYPE_MPLS) && found !== BigInt(ETHERTYPE_MPLS_UPSTREAM)))
        continue;
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}, and an MPLS label precedes the packet, so the EtherType is ${facts.foundText(`${level}.ethertype`)}. Match ${level}.ip_version, which is that of the packet after the labels.`,
        changes: [leavesOut(term)],
      };
    }
    return null;
  },
};

const tagPriority: Detector = {
  name: "vlan-priority-masked",
  detect(facts) {
    for (const level of LEVELS) {
      const tags = tagTerms(facts, level);
      const [first] = tags;
      if (first === undefined || !tags.every(({ name, found }) => found !== null && /_(prio|cfi)$/.test(name)))
        continue;
      if (facts.term(`${level}.first_vid`)?.agrees !== true) continue;
      return {
        sentence: `The rule expects ${first.name} = ${first.wanted}, and the frame has ${first.found}: the VLAN ID matches, but the priority in the same tag does not. Mask only the 12 bits of the ID (0x0fff).`,
        changes: tags.map(leavesOut),
      };
    }
    return null;
  },
};

const wrongChecksum: Detector = {
  name: "checksum-not-right",
  detect({ failing }) {
    const term = failing.find(({ name }) => /\.(ipv4|l4)_checksum_ok$/.test(name));
    if (term === undefined) return null;
    const which = term.name.endsWith("ipv4_checksum_ok") ? "IPv4 header" : "TCP or UDP";
    const sentence =
      term.value === 1n
        ? `The rule expects ${term.name} = 1, and the ${which} checksum is wrong, missing or not verifiable. Frames captured on the sending host often lack a checksum because the adapter computes it later.`
        : `The rule expects ${term.name} = 0, and the ${which} checksum of the frame is correct.`;
    return { sentence, changes: [leavesOut(term)] };
  },
};

const cutShort: Detector = {
  name: "frame-cut-short",
  detect({ failing, there }): Finding | null {
    const absent = failing.find(({ found }) => found === null);
    const { stopped } = there;
    if (absent === undefined || stopped === null || stopped.reason !== "truncated") return null;
    return {
      sentence: `${absent.name} is in a header that the capture cut: parsing stopped in ${stopped.header}.${stopped.field}, which needs ${stopped.wanted} bytes and has ${stopped.had}. Capture frames at full length.`,
    };
  },
};

export const HEADERS: readonly Detector[] = [
  cutShort,
  fragment,
  tagByType,
  tagKind,
  tagInFront,
  untagged,
  otherUpper("tcp", "tcp-fields-for-udp"),
  otherUpper("udp", "udp-fields-for-tcp"),
  portsOfSctp,
  portsOfIcmp,
  icmpVersions("icmp", "icmpv6"),
  icmpVersions("icmpv6", "icmp"),
  arpFrame,
  labelInFront,
  tagPriority,
  extensionHeader,
  otherVersion,
  wrongChecksum,
];
