/** Matches that ask for less, or for more, than they seem to. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import { GROUP_SIZE } from "../../../abi/key.js";
import { isDeviceFlow } from "../../../model/flow/kinds.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { fieldNamed, readField, type Field } from "../../../model/match/fields.js";
import { maskedFields } from "../../../model/match/match.js";
import { fullMask } from "../../../model/match/term.js";
import type { FindingObject } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, namedObject } from "../objects.js";

/** Groups by their bit of `match_criteria_enable`. */
const GROUPS = ["outer", "misc", "inner", "misc2", "misc3", "misc4", "misc5"];

/** A mask in device bytes, and the matcher or flow that has it. */
interface DeviceMasked {
  readonly object: FindingObject;
  readonly criteria: number;
  readonly mask: Uint8Array;
  readonly leftOut: { readonly criteria: number; readonly mask: Uint8Array } | null;
}

function* deviceMasks(context: LintContext): Iterable<DeviceMasked> {
  for (const matcher of context.matchers()) {
    const { criteria, deviceMask } = matcher;
    if (deviceMask === null) continue;
    const { leftOut, mask } = deviceMask;
    yield { object: namedObject("matcher", matcher), criteria, leftOut, mask };
  }
  for (const flow of context.flows()) {
    if (!isDeviceFlow(flow)) continue;
    const { criteria, leftOut, mask } = flow.matcher;
    yield { object: namedObject("flow", flow), criteria, leftOut, mask };
  }
}

function groupsOf(criteria: number): string {
  return GROUPS.filter((_, bit) => (criteria & (1 << bit)) !== 0).join(" and ");
}

function hex(bits: number): string {
  return `0x${bits.toString(16)}`;
}

const leavesOut: LintDetector = {
  id: "criteria-leave-out-group",
  severity: "warning",
  *detect(context) {
    for (const { object, criteria, leftOut } of deviceMasks(context)) {
      if (leftOut === null) continue;
      const [first] = maskedFields(leftOut.mask);
      const groups = groupsOf(leftOut.criteria);
      yield {
        objects: [object],
        field: first?.name ?? null,
        sentence: `${called(object)} masks ${first?.name ?? groups}, but match_criteria_enable ${hex(criteria)} leaves out the group ${groups}, so every value matches. Set match_criteria_enable to ${hex(criteria | leftOut.criteria)}.`,
      };
    }
  },
};

const namesEmptyGroup: LintDetector = {
  id: "criteria-without-mask",
  severity: "note",
  *detect(context) {
    for (const { object, criteria, mask } of deviceMasks(context)) {
      const empty = GROUPS.reduce((bits, _, group) => {
        const part = mask.subarray(group * GROUP_SIZE, (group + 1) * GROUP_SIZE);
        return (criteria & (1 << group)) !== 0 && part.every((byte) => byte === 0) ? bits | (1 << group) : bits;
      }, 0);
      if (empty === 0) continue;
      yield {
        objects: [object],
        sentence: `${called(object)} names the group ${groupsOf(empty)} in match_criteria_enable ${hex(criteria)}, but masks none of its fields.`,
      };
    }
  },
};

const LEVELS = ["outer", "inner"] as const;

const withoutVersion: LintDetector = {
  id: "address-without-version",
  severity: "warning",
  *detect(context) {
    for (const { object, mask } of deviceMasks(context)) {
      const fields = maskedFields(mask);
      for (const level of LEVELS) {
        const has = (name: string): boolean => fields.some((field) => field.name === `${level}.${name}`);
        if (has("ip_version") || has("ethertype")) continue;
        const address = ["ipv4_src", "ipv4_dst"].find((name) => has(name) && !has(name.replace("4", "6")));
        if (address === undefined) continue;
        yield {
          objects: [object],
          field: `${level}.${address}`,
          sentence: `${called(object)} masks ${level}.${address}, but not ${level}.ip_version. IPv6 addresses have their last four bytes in the same place, so IPv6 packets match too. Mask ${level}.ip_version.`,
        };
      }
    }
  },
};

const SOURCE_PORT = fieldNamed("misc.source_port") as Field;
const PORT = fieldNamed("ext.port") as Field;

/** The vport or port that a rule asks for and the device does not have; null if it has them. */
export function unknownSourceOf(
  { device, rules }: LintContext,
  node: RuleNode,
): { field: string; says: string } | null {
  const { mask, value } = rules.contentOf(node);
  const number = (field: Field): number =>
    readField(mask, field) === fullMask(field) ? Number(readField(value, field)) : -1;
  const [vport, port] = [number(SOURCE_PORT), number(PORT)];
  if (vport > device.vports && vport !== VPORT_UPLINK) {
    return { field: SOURCE_PORT.name, says: `vport ${vport} only, and the device has vports 0 to ${device.vports}` };
  }
  if (port !== 0 && port <= device.ports) return null;
  const ports = device.ports === 1 ? "port 1" : `ports 1 to ${device.ports}`;
  return { field: PORT.name, says: `port ${port} only, and the device has ${ports}` };
}

const unknownSource: LintDetector = {
  id: "unknown-source",
  severity: "warning",
  *detect(context) {
    const seen = new Set<number>();
    for (const table of context.tables) {
      for (const node of context.rules.rulesOf(table)) {
        const unknown = unknownSourceOf(context, node);
        if (unknown === null || seen.has(node.object.id)) continue;
        seen.add(node.object.id);
        const object = installedObject(node.object);
        yield {
          objects: [object],
          field: unknown.field,
          sentence: `${called(object)} takes frames of ${unknown.says}.`,
        };
      }
    }
  },
};

export const MATCHES: readonly LintDetector[] = [leavesOut, namesEmptyGroup, withoutVersion, unknownSource];
