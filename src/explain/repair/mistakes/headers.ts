/** Headers that the frame has not, or has where the rule does not look. */
import {
  PORT_GENEVE,
  PORT_GTPU,
  PORT_MPLS,
  PORT_ROCE,
  PORT_VXLAN,
  PORT_VXLAN_GPE,
  PROTOCOL_ICMP,
  PROTOCOL_ICMPV6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../../abi/protocols.js";
import { EXT_PRESENT_TUNNEL } from "../../../abi/key.js";
import type { FieldName } from "../../../model/match/fields.js";
import { presenceWord } from "../../match/terms.js";
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
          ? `the rule wants ip_protocol ${otherNumber} (${other}) beside it, so no frame matches`
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

/** Tunnels over UDP: the field that names each, its port, and what people call it. */
const OVER_UDP: readonly (readonly [fields: RegExp, port: number, name: string])[] = [
  [/^misc\.vxlan_vni$/, PORT_VXLAN, "VXLAN"],
  [/^misc3\.outer_vxlan_gpe_/, PORT_VXLAN_GPE, "VXLAN-GPE"],
  [/^misc3?\.geneve_/, PORT_GENEVE, "Geneve"],
  [/^misc3\.gtpu_/, PORT_GTPU, "GTP-U"],
  [/^misc2\.outer_first_mpls_over_udp_/, PORT_MPLS, "MPLS over UDP"],
  [/^misc\.bth_/, PORT_ROCE, "RoCE"],
];

const otherPort: Detector = {
  name: "tunnel-on-other-port",
  detect(facts) {
    const port = facts.found("outer.udp_dport");
    if (port === null) return null;
    for (const { name, found } of facts.failing) {
      const tunnel = OVER_UDP.find(([fields]) => fields.test(name));
      if (found !== null || tunnel === undefined || port === BigInt(tunnel[1])) continue;
      const [, wanted, kind] = tunnel;
      const udp = facts.term("outer.udp_dport");
      const asks = udp !== undefined && udp.agrees ? ` The rule itself wants outer.udp_dport ${udp.wanted}.` : "";
      return {
        sentence: `${name} needs a ${kind} header, which the device reads at UDP port ${wanted} only, and the frame goes to UDP port ${port}.${asks} Send ${kind} to port ${wanted}.`,
      };
    }
    return null;
  },
};

const withoutTunnel: Detector = {
  name: "inner-without-tunnel",
  detect(facts) {
    const { failing, context } = facts;
    const inner = failing.filter(
      ({ name, found }) => found === null && (name.startsWith("inner.") || name.includes(".inner_")),
    );
    const first = inner.find(({ name }) => !name.endsWith(".ip_version")) ?? inner[0];
    const hasInner = facts.there.headers.some(({ level }) => level === "inner");
    if (first === undefined || hasInner || presenceWord(context.key, EXT_PRESENT_TUNNEL) !== 0) return null;
    const decap = context.trace.steps.some((step) => step.kind === "action" && step.text.startsWith("removes the"));
    const why = decap
      ? "an earlier rule removed its tunnel, so its fields are the outer ones now"
      : "the frame has no tunnel";
    return {
      sentence: `${first.name} is a field of the packet inside a tunnel, and ${why}. Match the outer fields, such as ${first.name.replace("inner", "outer")}.`,
      changes: inner.flatMap((term) => moves(term, term.name.replace("inner", "outer"))),
    };
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
            ? `${first.name} is wanted as 0, and the frame is a fragment.`
            : `${first.name} needs the header behind IP, and the frame is a later fragment, which does not have it. Only the first fragment has ports.`,
        changes: terms.map(leavesOut),
      };
    }
    return null;
  },
};

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
        sentence: `${unwanted.name} is wanted as 0, and a VLAN tag lies in front of the packet (${level}.first_vid ${facts.foundText(`${level}.first_vid`)}).`,
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
        sentence: `${term.name} is wanted as ${term.wanted}, the type of a VLAN tag, and the field has the type after the last tag: ${facts.foundText(`${level}.ethertype`)}. Match ${level}.${tag} 1 for tagged frames.`,
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
            sentence: `${term.name} is wanted as 1, a tag of ${type}. Match ${base}${other} 1 instead.`,
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
      return { sentence: `${first.name} is wanted as ${first.wanted}, and ${why}.`, changes: wants.map(leavesOut) };
    }
    return null;
  },
};

const greKey: Detector = {
  name: "gre-key-absent",
  detect(facts) {
    const term = facts.failed("misc.gre_key") ?? facts.failed("misc.gre_k_present");
    if (term === undefined || facts.found("misc.gre_protocol") === null || facts.found("misc.gre_k_present") !== 0n)
      return null;
    if (term.name === "misc.gre_k_present" && term.value === 0n) return null;
    return {
      sentence: `${term.name} is wanted as ${term.wanted}, and the GRE header of the frame has no key: its K bit is 0. Send it with a key, or match misc.gre_k_present 0.`,
      changes: [leavesOut(term)],
    };
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
        sentence: `${term.name} is wanted as ${term.wanted}, which is ${name} of IPv6, and the field has the protocol after all extension headers: ${facts.foundText(`${level}.ip_protocol`)}.`,
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
        sentence: `${term.name} is wanted as ${term.wanted}: the rule is for IPv${other}, and the frame is IPv${found}. Make a rule for each version.`,
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
        ? `${term.name} is wanted as 1, and the ${which} checksum is wrong, missing or not verifiable. Frames captured at their sender often have checksums that the adapter fills in later.`
        : `${term.name} is wanted as 0, and the ${which} checksum of the frame is right.`;
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
      sentence: `${absent.name} is in a header that the capture cut: parsing stopped in ${stopped.header}.${stopped.field}, which needs ${stopped.wanted} bytes and has ${stopped.had}. Capture whole frames.`,
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
  portsOfIcmp,
  otherPort,
  withoutTunnel,
  greKey,
  extensionHeader,
  otherVersion,
  wrongChecksum,
];
