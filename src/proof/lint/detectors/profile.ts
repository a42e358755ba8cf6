/** What the hardware of a profile cannot do: by the data of the profile, or of the latest ConnectX for the profile `manual`. */
import { programText } from "../../../explain/trace/programText.js";
import { actionsOf } from "../../../explain/trace/objects.js";
import { isDeviceFlow, isVerbsFlow } from "../../../model/flow/kinds.js";
import { IBV_FLOW_ATTR_NORMAL } from "../../../abi/verbs.js";
import { CONNECTX } from "../../../model/profile/connectx.js";
import type { Profile } from "../../../model/profile/profile.js";
import { fieldNamed, readField, type Field } from "../../../model/match/fields.js";
import { ipVersions, maskedFields } from "../../../model/match/match.js";
import { unmatchableField } from "../../../model/match/matcherChecks.js";
import type { Rule } from "../../../model/rule/rule.js";
import type { Flow } from "../../../model/flow/flow.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, namedObject } from "../objects.js";
import type { FindingObject } from "../../answer.js";

/** The profile of the hardware: `manual` stands for no card. */
function hardware({ device: { profile } }: LintContext): Profile {
  return profile.name === "manual" ? (CONNECTX.at(-1) as Profile) : profile;
}

function cards({ device: { profile } }: LintContext): string {
  return profile.name === "manual" ? "no ConnectX matches there" : `${profile.name} does not match there`;
}

function* prioritized(context: LintContext): Iterable<readonly [FindingObject, number]> {
  for (const matcher of context.matchers()) {
    if (matcher.table.isRoot) yield [namedObject("matcher", matcher), matcher.priority];
  }
  for (const flow of context.flows()) {
    const priority = priorityOf(flow);
    if (priority !== null) yield [namedObject("flow", flow), priority];
  }
}

function priorityOf(flow: Flow): number | null {
  if (isDeviceFlow(flow)) return flow.matcher.priority;
  return isVerbsFlow(flow) && flow.type === IBV_FLOW_ATTR_NORMAL ? flow.priority : null;
}

const beyondPriorities: LintDetector = {
  id: "priority-beyond-connectx",
  severity: "note",
  *detect(context) {
    const { lastPriority } = hardware(context).flows;
    for (const [object, priority] of prioritized(context)) {
      if (priority <= lastPriority) continue;
      yield {
        objects: [object],
        field: "priority",
        sentence: `${called(object)} has priority ${priority}. The highest number on a ConnectX is ${lastPriority}, in root tables and for flows.`,
      };
    }
  },
};

/** The first field of a mask that the hardware does not match in a table, and why; null if it matches all. */
function unmatched(profile: Profile, rule: Rule, mask: Uint8Array): { field: string; hint: string } | null {
  const { isRoot, domain } = rule.matcher.table;
  if (!isRoot) return unmatchableField(profile, domain.type, mask);
  // Root tables are managed by firmware, which matches every field of the device format.
  const [own] = maskedFields(mask).filter(({ name }) => name.startsWith("ext."));
  return own === undefined ? null : { field: own.name, hint: "the device has no field for it" };
}

const unknownField: LintDetector = {
  id: "field-beyond-connectx",
  severity: "note",
  *detect(context) {
    const profile = hardware(context);
    for (const { rule, mask } of context.directMatches()) {
      const found = unmatched(profile, rule, mask);
      if (found === null) continue;
      const object = installedObject(rule);
      yield {
        objects: [object],
        field: found.field,
        sentence: `${called(object)} matches ${found.field}, which ${cards(context)}: ${found.hint}.`,
      };
    }
  },
};

const PROTOCOL = fieldNamed("outer.ip_protocol") as Field;
const ICMPV6 = 58n;

/** MODEL: hardware computes the checksums of IPv4, TCP and UDP anew, and no other (docs/rules.md, "Modify header"). */
const unmendedChecksum: LintDetector = {
  id: "checksum-not-mended",
  severity: "warning",
  *detect(context) {
    if (context.device.profile.name === "manual") return;
    for (const { rule, mask, value } of context.directMatches()) {
      const protocol = readField(mask, PROTOCOL);
      if ((readField(value, PROTOCOL) & protocol) !== (ICMPV6 & protocol)) continue;
      const changed = [...changedFields(context, rule)].find((name) => /^outer\.ipv6_(src|dst)$/.test(name));
      if (changed === undefined || ipVersions(value)[0] === 4) continue;
      const object = installedObject(rule);
      yield {
        objects: [object],
        field: changed,
        sentence: `${called(object)} changes ${changed} of ICMPv6 packets too, whose checksum covers the addresses. ${context.device.profile.name} recomputes the checksums of IPv4, TCP and UDP, but not that of ICMPv6. Match outer.ip_protocol tcp or udp.`,
      };
    }
  },
};

function* changedFields(context: LintContext, rule: Rule): Iterable<string> {
  for (const { kind, operand } of actionsOf(rule)) {
    if (kind !== "modify_header") continue;
    for (const change of programText(context.device.core.u8, operand).split(", ")) yield change.split(" ")[0] ?? "";
  }
}

export const PROFILE: readonly LintDetector[] = [beyondPriorities, unknownField, unmendedChecksum];
