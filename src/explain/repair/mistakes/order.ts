/** An earlier rule took the frame that the target would match too. */
import { isDeviceFlow, isVerbsFlow } from "../../../model/flow/kinds.js";
import { IBV_FLOW_SPEC_ETH, IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_TCP } from "../../../abi/verbs.js";
import { isPresent, readField, type FieldName } from "../../../model/match/fields.js";
import type { LeftOut } from "../../../model/match/deviceMask.js";
import { maskedFields } from "../../../model/match/match.js";
import { fullMask } from "../../../model/match/term.js";
import { ownersOf } from "../../trace/names.js";
import { FlowEntry } from "../../../model/flow/entry.js";
import { isMade } from "../../../drivers/madeRules.js";
import { fieldsOutsideMask, filterNumber, type FilterField, type MatchSpec } from "../../../model/match/flowSpec.js";
import type { VerbsFlow } from "../../../model/flow/verbsFlow.js";
import { Rule } from "../../../model/rule/rule.js";
import { termText, valueText } from "../../match/notation.js";
import type { FieldChange } from "../../trace/trace.js";
import type { RuleCandidate, RuleInTable } from "../context.js";
import { named, type Facts } from "../facts.js";
import type { Detector, Finding } from "../finding.js";
import { isGuarded } from "../guarded.js";
import { isLast } from "../ruleChange.js";
import { copyCandidates, priorityCandidates } from "../ruleRepairs.js";
import { getsThere } from "./terms.js";

/** Groups by their bit of `match_criteria_enable`. */
const GROUPS = ["outer", "misc", "inner", "misc2", "misc3", "misc4", "misc5"];

/** What a rule masks in vain, and the criteria of its matcher. */
function leftOutOf({ object }: RuleInTable): { leftOut: LeftOut; of: object; criteria: number } | null {
  for (const of of ownersOf(object)) {
    if (of instanceof Rule) {
      const leftOut = of.matcher.deviceMask?.leftOut ?? null;
      if (leftOut !== null) return { leftOut, of, criteria: of.matcher.criteria };
    } else if (isDeviceFlow(of) && of.matcher.leftOut !== null) {
      return { leftOut: of.matcher.leftOut, of, criteria: of.matcher.criteria };
    }
  }
  return null;
}

const criteriaLeaveOut: Detector = {
  name: "criteria-leave-out-group",
  detect({ context: { taker, key } }) {
    const found = taker === null ? null : leftOutOf(taker);
    if (taker === null || found === null) return null;
    const { leftOut, of, criteria } = found;
    const value = leftOut.valueOf(of) ?? new Uint8Array(leftOut.mask.length);
    const fields = maskedFields(leftOut.mask);
    const differs = fields.some((field) => {
      const mask = readField(leftOut.mask, field);
      return !isPresent(key, field) || (readField(key, field) & mask) !== (readField(value, field) & mask);
    });
    const [first] = fields;
    if (!differs || first === undefined) return null;
    const changes = fields.map((field): FieldChange => {
      const mask = readField(leftOut.mask, field);
      return { field: field.name, before: null, after: termText(field, mask, readField(value, field) & mask) };
    });
    const groups = GROUPS.filter((_, bit) => (leftOut.criteria & (1 << bit)) !== 0).join(" and ");
    return {
      sentence: `${called(taker)} took the frame. Its matcher masks ${first.name}, but match_criteria_enable ${hex(criteria)} leaves out the group ${groups}, so the rule matches any value of it. Set match_criteria_enable to ${hex(criteria | leftOut.criteria)}.`,
      rule: taker,
      changes,
    };
  },
};

/** The match fields of filters of specs, by C name; @ is the level. */
const FILTER_FIELDS: Readonly<Record<string, string>> = {
  dst_mac: "@.dmac",
  src_mac: "@.smac",
  ether_type: "@.ethertype",
  // Its priority bits are no field of their own in the struct.
  vlan_tag: "@.first_vid",
  proto: "@.ip_protocol",
  next_hdr: "@.ip_protocol",
  ttl: "@.ip_ttl_hoplimit",
  hop_limit: "@.ip_ttl_hoplimit",
  spi: "misc.@_esp_spi",
  tunnel_id: "misc.vxlan_vni",
};

/** The match field of a filter's field; undefined where it is several, or a part of one. */
function matchField({ layout: { type }, inner }: MatchSpec, { name }: FilterField): FieldName | undefined {
  const version = type === IBV_FLOW_SPEC_IPV6 ? "ipv6" : "ipv4";
  const upper = type === IBV_FLOW_SPEC_TCP ? "tcp" : "udp";
  const ends: Readonly<Record<string, string>> = {
    src_ip: `@.${version}_src`,
    dst_ip: `@.${version}_dst`,
    src_port: `@.${upper}_sport`,
    dst_port: `@.${upper}_dport`,
  };
  return (FILTER_FIELDS[name] ?? ends[name])?.replace("@", inner ? "inner" : "outer") as FieldName | undefined;
}

/** Fields of the specs of a flow that have a value outside their mask. */
function outsideMask({ object }: RuleInTable): { flow: VerbsFlow; spec: MatchSpec; field: FilterField }[] {
  if (!(object instanceof FlowEntry)) return [];
  return object.flows.flatMap((flow) => {
    if (!isVerbsFlow(flow)) return [];
    return flow.outsideMask.flatMap((spec) => fieldsOutsideMask(spec).map((field) => ({ flow, spec, field })));
  });
}

function valueOutside(name: string, prefixes: boolean): Detector {
  return {
    name,
    detect({ context: { taker } }) {
      if (taker === null) return null;
      for (const { flow, spec, field } of outsideMask(taker)) {
        const mask = filterNumber(spec.mask, field);
        const to = matchField(spec, field);
        const isPrefix = (field.kind === "ipv4" || field.kind === "ipv6") && mask !== 0n;
        if (to === undefined || isPrefix !== prefixes) continue;
        const known = named(to);
        const bits = spec.layout.type === IBV_FLOW_SPEC_ETH || known.width === 8 * field.size ? fullMask(known) : 0n;
        const value = filterNumber(spec.val, field) & fullMask(known);
        const masked = mask & fullMask(known);
        if ((value & ~masked) === 0n) continue;
        const wide = masked === 0n ? "every value" : termText(known, masked, value & masked);
        const path = `${spec.layout.name}.val.${field.name}`;
        return {
          sentence: `Flow "${flow.name}" took the frame. Its ${path} is ${valueText(known, value)} under the mask ${valueText(known, masked)}: bits of a value outside its mask are ignored, so the flow takes ${wide}. Mask every bit that matters.`,
          rule: taker,
          ...(bits === 0n
            ? {}
            : {
                changes: [
                  {
                    field: to,
                    before: masked === 0n ? null : termText(known, masked, value & masked),
                    after: valueText(known, value),
                  },
                ],
              }),
        };
      }
      return null;
    },
  };
}

/** Whether every frame that a rule matches is one that the other rule matches too. */
function covers(general: RuleInTable, special: RuleInTable): boolean {
  if (general.ranges.length > 0) return false;
  return general.mask.every((bits, at) => {
    return (bits & ~(special.mask[at] ?? 0)) === 0 && ((special.value[at] ?? 0) & bits) === (general.value[at] ?? 0);
  });
}

/** A rule, and the earlier one that took the frame although the rule matches it too. */
interface Ordered {
  readonly rule: RuleInTable;
  readonly taker: RuleInTable;
}

/** Null where a state decides, or where no text has one of the rules: a driver made it. */
function orderedIn({ context, failing }: Facts): Ordered | null {
  const { rule, taker } = context;
  if (rule === null || taker === null || failing.length > 0 || taker.object === rule.object) return null;
  if (isMade(rule.ref.name) || isMade(taker.ref.name) || isGuarded(context, taker)) return null;
  return { rule, taker };
}

const duplicate: Detector = {
  name: "duplicate-rule",
  detect(facts) {
    const ordered = orderedIn(facts);
    if (ordered === null || facts.context.target.kind === "twice") return null;
    const { rule, taker } = ordered;
    if (!covers(taker, rule) || !covers(rule, taker)) return null;
    return {
      sentence: `${called(rule)} matches the same frames as ${lower(called(taker))}, which comes first, so it takes none. Take one of them out.`,
    };
  },
};

const priorityReversed: Detector = {
  name: "priority-reversed",
  detect(facts) {
    const ordered = orderedIn(facts);
    if (ordered === null) return null;
    const { rule, taker } = ordered;
    if (taker.ref.priority >= rule.ref.priority || !covers(taker, rule)) return null;
    const [candidate] = priorityCandidates(facts);
    return {
      sentence: `${called(taker)} has priority ${taker.ref.priority} and takes every frame of ${lower(called(rule))}, which has priority ${rule.ref.priority}: the lower number wins. Give the more specific rule the lower number.`,
      ...(candidate === undefined ? {} : { rule: candidate.rule, changes: candidate.changes }),
    };
  },
};

const equalPriority: Detector = {
  name: "equal-priority",
  detect(facts) {
    const ordered = orderedIn(facts);
    if (ordered === null) return null;
    const { rule, taker } = ordered;
    if (taker.ref.priority !== rule.ref.priority) return null;
    if (isLast(rule)) return multicastOnly(rule, taker, copyCandidates(facts));
    const [candidate] = priorityCandidates(facts);
    const direct = rule.object instanceof Rule && !rule.object.matcher.table.isRoot;
    const order =
      rule.ref.matcher !== null && rule.ref.matcher === taker.ref.matcher
        ? "among rules of one matcher, the oldest wins"
        : `the ${direct ? "newer" : "older"} mask wins`;
    return {
      sentence: `${called(taker)} took the frame, and ${lower(called(rule))} has the same priority, ${rule.ref.priority}: ${order}. Give them different priorities: the more specific rule comes first.`,
      ...(candidate === undefined ? {} : { rule: candidate.rule, changes: candidate.changes }),
    };
  },
};

/** Two flows for multicast only, which a ConnectX puts after all others. */
function multicastOnly(rule: RuleInTable, taker: RuleInTable, [candidate]: readonly RuleCandidate[]): Finding {
  const names = `${called(taker)} and ${lower(called(rule))}`;
  return {
    sentence: `${names} match multicast only: a ConnectX puts such flows after all others, whatever their priority, and among them the older mask wins. Create the flow with the narrower mask first, or give the other one the flag dont_trap.`,
    ...(candidate === undefined ? {} : candidate),
  };
}

const trapping: Detector = {
  name: "dont-trap-missing",
  detect({ context: { target, taker } }) {
    if (taker === null || !(taker.object instanceof FlowEntry) || taker.object.dontTrap) return null;
    if (target.kind !== "twice") return null;
    return {
      sentence: `${called(taker)} took the frame, and the frame went no further. Only a flow with the flag dont_trap (IBV_FLOW_ATTR_FLAGS_DONT_TRAP) passes frames on to later flows.`,
    };
  },
};

const trappingOther: Detector = {
  name: "dont-trap-on-other-flow",
  detect(facts) {
    const { rule, taker } = facts.context;
    if (rule === null || taker === null || facts.failing.length > 0) return null;
    const [copies] = copyCandidates(facts);
    if (copies === undefined || !(rule.object instanceof FlowEntry) || !rule.object.dontTrap) return null;
    if (!getsThere(facts, copies.rule, copies.changes)) return null;
    return {
      sentence: `${called(rule)} has the flag dont_trap, and ${lower(called(taker))}, which comes first, has not: the flow that comes first passes frames on to later ones only with the flag (IBV_FLOW_ATTR_FLAGS_DONT_TRAP).`,
      ...copies,
    };
  },
};

/** `Rule "web"` */
export function called({ ref: { kind, name } }: RuleInTable): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} "${name}"`;
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function hex(bits: number): string {
  return `0x${bits.toString(16)}`;
}

export const ORDER: readonly Detector[] = [
  criteriaLeaveOut,
  valueOutside("prefix-with-host-bits", true),
  valueOutside("value-outside-mask", false),
  trapping,
  trappingOther,
  duplicate,
  priorityReversed,
  equalPriority,
];
