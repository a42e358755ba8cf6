/** Flows of the verbs that do not mean what they say. */
import { IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_SNIFFER } from "../../../abi/verbs.js";
import { termText, valueText } from "../../../explain/match/notation.js";
import { FlowEntry } from "../../../model/flow/entry.js";
import { isVerbsFlow } from "../../../model/flow/kinds.js";
import { fieldsOutsideMask, filterNumber, type FilterField, type MatchSpec } from "../../../model/match/flowSpec.js";
import type { VerbsFlow } from "../../../model/flow/verbsFlow.js";
import type { LintContext } from "../context.js";
import type { Found, LintDetector } from "../detector.js";
import { called, namedObject } from "../objects.js";

function* verbsFlows(context: LintContext): Iterable<VerbsFlow> {
  for (const flow of context.flows()) if (isVerbsFlow(flow)) yield flow;
}

/** The part of a filter that lies outside its mask; prefixes are masks of addresses that keep some bits. */
function outsideMask(prefixes: boolean): LintDetector["detect"] {
  return function* detect(context) {
    for (const flow of verbsFlows(context)) {
      for (const spec of flow.outsideMask) {
        for (const field of fieldsOutsideMask(spec)) {
          const mask = filterNumber(spec.mask, field);
          const isPrefix = (field.kind === "ipv4" || field.kind === "ipv6") && mask !== 0n;
          if (isPrefix === prefixes) yield outside(flow, spec, field, mask);
        }
      }
    }
  };
}

function outside(flow: VerbsFlow, spec: MatchSpec, field: FilterField, mask: bigint): Found {
  const object = namedObject("flow", flow);
  const form = { name: field.name, width: 8 * field.size, kind: field.kind };
  const value = filterNumber(spec.val, field);
  const takes = mask === 0n ? "every value" : termText(form, mask, value & mask);
  const path = `${spec.layout.name.replace("IBV_FLOW_SPEC_", "").toLowerCase()}.${field.name}`;
  return {
    objects: [object],
    field: path,
    sentence: `${called(object)} has ${path} ${valueText(form, value)} under the mask ${valueText(form, mask)}. Bits of a value outside its mask are ignored, so the flow takes ${takes}.`,
  };
}

export const FLOWS: readonly LintDetector[] = [
  { id: "prefix-with-host-bits", severity: "warning", detect: outsideMask(true) },
  { id: "value-outside-mask", severity: "warning", detect: outsideMask(false) },
  {
    id: "priority-ignored",
    severity: "note",
    *detect(context) {
      for (const flow of verbsFlows(context)) {
        if (flow.type === IBV_FLOW_ATTR_NORMAL || flow.priority === 0) continue;
        const object = namedObject("flow", flow);
        yield {
          objects: [object],
          field: "priority",
          sentence: `${called(object)} has priority ${flow.priority}, but only flows of type normal have priorities.`,
          fix: { kind: "set", object, field: "priority", value: null, sentence: "Leave the priority out." },
        };
      }
    },
  },
  {
    id: "sniffer-drop",
    severity: "warning",
    *detect({ device }) {
      for (const entry of device.installed) {
        if (!(entry instanceof FlowEntry) || entry.stage !== "sniffers" || !entry.drop) continue;
        for (const flow of entry.flows) {
          if (!isVerbsFlow(flow) || flow.type !== IBV_FLOW_ATTR_SNIFFER) continue;
          const object = namedObject("flow", flow);
          yield {
            objects: [object],
            sentence: `${called(object)} is a sniffer with a drop action: it drops only its own copy, and the frame goes on.`,
          };
        }
      }
    },
  },
];
