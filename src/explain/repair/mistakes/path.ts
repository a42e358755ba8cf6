/** The frame took another way than the rule was made for: functions, ports, domains, registers, headers changed before. */
import { isVerbsFlow } from "../../../model/flow/kinds.js";
import { VPORT_UPLINK } from "../../../abi/engine.js";
import { IBV_FLOW_ATTR_MC_DEFAULT } from "../../../abi/verbs.js";
import { FlowEntry } from "../../../model/flow/entry.js";
import { Rule } from "../../../model/rule/rule.js";
import type { DomainType } from "../../../model/base/domainType.js";
import type { FieldName } from "../../../model/match/fields.js";
import { valueText } from "../../match/notation.js";
import type { ActionStep, FieldChange, LookupStep, TraceStep } from "../../trace/trace.js";
import { functionText as nameOfFunction } from "../../why/reasons/describe.js";
import { movedField } from "../../why/reasons/changes.js";
import { registerOf } from "../../why/reasons/writers.js";
import { isAction, stepsBefore } from "../../why/walked.js";
import type { RepairContext } from "../context.js";
import type { Facts } from "../facts.js";
import type { Detector } from "../finding.js";
import { aboutValues, getsThere, isPresentTerm, leavesOut, moves, takesFound, type PresentTerm } from "./terms.js";
import { called } from "./order.js";
import { takes } from "./places.js";

/** The actions before the frame came to the table of the rule. */
function actions({ context }: Facts): ActionStep[] {
  return context.lookup === null ? [] : stepsBefore(context, context.lookup).filter(isAction);
}

/** "the PF", "VF 1" or "the wire". */
function functionText(vport: bigint | number): string {
  return Number(vport) === VPORT_UPLINK ? "the wire" : nameOfFunction(Number(vport));
}

const sourcePort: Detector = {
  name: "source-port-of-other-function",
  detect({ failing }) {
    const terms = failing.filter(isPresentTerm).filter(({ name }) => name === "misc.source_port");
    return aboutValues(
      terms,
      ({ value, found }) =>
        `The rule is for frames from ${functionText(value)} (misc.source_port ${Number(value) === VPORT_UPLINK ? "uplink" : value}), and this one came from ${functionText(found)} (${found}).`,
    );
  },
};

/** A rule for the functions behind a port names a vport, and its author meant the port. */
const vportForPort: Detector = {
  name: "vport-for-port",
  detect(facts) {
    const { rule, trace } = facts.context;
    const [term, ...others] = facts.failing;
    if (rule === null || term === undefined || others.length > 0 || trace.from.kind !== "wire") return null;
    const { port } = trace.from;
    if (!isPresentTerm(term) || term.name !== "misc.source_port" || term.value !== BigInt(port)) return null;
    const changes = [moves(term, "ext.port"), [takesFound(term)]].find((one) => getsThere(facts, rule, one));
    if (changes === undefined) return null;
    return {
      sentence: `The rule expects misc.source_port = ${term.value}, frames from ${functionText(term.value)}, and the frame arrived on port ${port}: the number of a vport is not that of a port. Match ext.port for a port, or misc.source_port uplink for all ports.`,
      changes,
    };
  },
};

const otherPort: Detector = {
  name: "other-port",
  detect({ failing }) {
    const terms = failing
      .filter(isPresentTerm)
      .filter(({ name }) => name === "ext.port" || name === "misc.source_vhca_port");
    return aboutValues(
      terms,
      ({ value, found }) =>
        `The rule is for frames of port ${value}, and the frame arrived on port ${found}. Ports are numbered from 1.`,
    );
  },
};

const REGISTER = /^misc2\.metadata_reg_(c_(\d)|a)$/;

/** Registers that survive the way from one domain to the next. */
const KEPT = ["misc2.metadata_reg_c_0", "misc2.metadata_reg_c_1"];

const registers: readonly Detector[] = [
  {
    name: "register-lost",
    detect(facts) {
      for (const term of failedRegisters(facts)) {
        const written = actions(facts).findLast((step) => wrote(step, term));
        if (written === undefined || KEPT.includes(term.name) || term.found !== 0n || !changedDomain(facts, written))
          continue;
        return {
          sentence: `${term.name} was written by ${written.rule === null ? "an action" : `rule "${written.rule.name}"`}, and is 0 again: only registers C0 and C1 survive from one domain to the next. Use metadata_reg_c_0 or metadata_reg_c_1.`,
        };
      }
      return null;
    },
  },
  {
    name: "tag-is-no-register",
    detect(facts) {
      for (const term of failedRegisters(facts)) {
        const tag = actions(facts).find((step) => step.action === "tag" && step.text === term.value.toString());
        if (tag === undefined) continue;
        return {
          sentence: `The rule expects ${term.name} = ${term.wanted}, which is the tag that rule "${tag.rule?.name ?? ""}" set. A tag goes into the completion and cannot be matched. Write a register with a modify header action instead.`,
        };
      }
      return null;
    },
  },
  ...[
    ["meter", "meter-colour", "0 red, 1 yellow, 2 green"],
    ["track", "connection-state", "0 valid, 2 valid with a new state, 64 invalid, 65 a bad packet (docs/conntrack.md)"],
    ["first_hit", "first-hit-state", "0 for the first frame, 1 afterwards"],
  ].map(([operation, name = "", numbers]): Detector => ({
    name,
    detect(facts) {
      for (const term of failedRegisters(facts)) {
        const by = actions(facts).findLast((step) => wrote(step, term));
        if (by === undefined || by.action !== operation) continue;
        return {
          sentence: `The rule expects ${term.name} = ${term.wanted}, and the frame has ${term.found}: ${writtenBy(by)}. The numbers are ${numbers}.`,
        };
      }
      return null;
    },
  })),
  {
    name: "register-not-written",
    detect(facts) {
      for (const term of failedRegisters(facts)) {
        if (term.found !== 0n || actions(facts).some((step) => wrote(step, term))) continue;
        return {
          sentence: `The rule expects ${term.name} = ${term.wanted}, and no rule before this table wrote the register, which starts at 0. Write it with a modify header action in an earlier rule.`,
        };
      }
      return null;
    },
  },
];

/** `contract[0]: green in C3` as `contract[0] wrote green`. */
function writtenBy({ text }: ActionStep): string {
  return text.replace(/: (.*) in C\d$/, " wrote $1");
}

function wrote({ registers }: ActionStep, { name }: PresentTerm): boolean {
  const register = registerOf(name);
  return register !== undefined && registers?.includes(register) === true;
}

function failedRegisters({ failing }: Facts): PresentTerm[] {
  return failing.filter(isPresentTerm).filter(({ name }) => REGISTER.test(name));
}

function changedDomain({ context }: Facts, since: TraceStep): boolean {
  const { steps } = context.trace;
  return steps
    .slice(steps.indexOf(since))
    .some((step) => step.kind === "move" && ["egress", "vport", "fdb_default"].includes(step.cause));
}

const rewritten: Detector = {
  name: "rewritten-before-match",
  detect(facts) {
    for (const term of facts.failing) {
      if (REGISTER.test(term.name) || term.range !== null) continue;
      for (const { fields, rule, action } of actions(facts)) {
        const change = fields.find(({ field }) => field === term.name);
        if (change?.before !== valueText(term.field, term.value)) continue;
        const by = rule === null ? "an earlier action" : `rule "${rule.name}"`;
        const found = term.found === null ? "removed it" : `made it ${valueText(term.field, term.found)}`;
        const to = term.found === null ? movedField(term.name) : undefined;
        const moved = to !== undefined && takes(term, facts.found(to as FieldName)) ? to : undefined;
        const now = moved === undefined ? "" : `: it is ${moved} now`;
        return {
          sentence: `The frame arrived with ${term.name} ${change.before}, as the rule expects, but ${by} ${found} (${action})${now}. Later tables match the changed frame.`,
          changes: moved === undefined ? [isPresentTerm(term) ? takesFound(term) : leavesOut(term)] : movedTerms(facts),
        };
      }
    }
    return null;
  },
};

/** The failing terms in the fields that the frame has them in after a header was removed. */
function movedTerms({ failing }: Facts): FieldChange[] {
  return failing.flatMap((term) => {
    const to = term.found === null ? movedField(term.name) : undefined;
    return to === undefined ? [] : moves(term, to);
  });
}

const notSynced: Detector = {
  name: "rule-not-synced",
  detect({ context: { rule, target, device } }) {
    // The core has no pending rule, so no rule of the core is the target.
    if (rule !== null || target.kind !== "rule") return null;
    const pending = [...device.installed].find(
      (one) => one instanceof Rule && one.holder.handle === 0 && one.name === target.name,
    );
    if (pending === undefined) return null;
    return {
      sentence: `Rule "${target.name}" is waiting for a sync of its domain: the device was created with asyncRules. Call mlx5dv_dr_domain_sync.`,
    };
  },
};

/** The domain and the function of the target that the frame did not come to. */
function placeOf({ rule, reasons }: RepairContext): { domain: DomainType; vport: number } | null {
  if (rule !== null) return rule.table;
  for (const reason of reasons) {
    if (reason.kind === "other domain") return reason;
    if (reason.kind === "not reached") return reason.table;
  }
  return null;
}

const otherDirection: Detector = {
  name: "other-direction",
  detect({ context }) {
    const { target, trace } = context;
    const place = placeOf(context);
    if (place === null || (target.kind !== "rule" && target.kind !== "flow")) return null;
    const { domain, vport } = place;
    const { from } = trace;
    const who = `${target.kind === "flow" ? "Flow" : "Rule"} "${target.name}"`;
    if (from.kind === "wire" && domain === "nic_tx") {
      return {
        sentence: `${who} is for frames that a queue pair sends (NIC_TX, or a flow with the flag egress), and the frame came from the wire. Create it in NIC_RX, without egress.`,
      };
    }
    const visited = trace.steps.some(
      (step) => step.kind === "lookup" && step.table.domain === domain && step.table.vport === vport,
    );
    if (from.kind === "queue" && domain === "nic_rx" && from.vport === vport && !visited) {
      return {
        sentence: `${who} is for frames that ${functionText(vport)} receives (NIC_RX), and ${functionText(vport)} sent the frame. Create it in NIC_TX, or as a flow with the flag egress.`,
      };
    }
    return null;
  },
};

const notLinked: Detector = {
  name: "table-not-linked",
  detect({ context: { reasons } }) {
    const reason = reasons.find((one) => one.kind === "not reached" && one.leading.length === 0);
    if (reason?.kind !== "not reached" || reason.table.table === "root") return null;
    return {
      sentence: `No rule leads to table "${reason.table.table}". Frames start in the root table; create a rule there whose action is the table.`,
    };
  },
};

const multicastDefault: Detector = {
  name: "mc-default-for-unicast",
  detect(facts) {
    const { rule } = facts.context;
    if (rule === null || !(rule.object instanceof FlowEntry) || facts.failed("outer.dmac") === undefined) return null;
    const flow = rule.object.flows.find((one) => isVerbsFlow(one) && one.type === IBV_FLOW_ATTR_MC_DEFAULT);
    if (flow === undefined) return null;
    return {
      sentence: `Flow "${rule.ref.name}" is of type mc_default, which takes only frames with a group address, and the frame goes to ${facts.foundText("outer.dmac")}. Use all_default (IBV_FLOW_ATTR_ALL_DEFAULT) for all frames.`,
    };
  },
};

/** Fates of frames that need no rule to be named. */
const noDefaultFlow: Detector = {
  name: "no-default-flow",
  detect({ context: { trace } }) {
    const { reason, missed } = trace.outcome;
    const last = missed.at(-1);
    if (reason !== "no_rule" || last?.domain !== "nic_rx") return null;
    const behind = trace.steps.some(
      (step) => step.kind === "move" && (step.cause === "vport" || step.cause === "fdb_default"),
    );
    if (!behind || hasRules(trace.steps, last.vport)) return null;
    return {
      sentence: `The eSwitch gave the frame to ${functionText(last.vport)}, which has no flow. Each function of the eSwitch needs flows of its own: create a default flow there (IBV_FLOW_ATTR_ALL_DEFAULT).`,
    };
  },
};

/** Whether a table of NIC_RX of a function has rules. */
function hasRules(steps: readonly TraceStep[], vport: number): boolean {
  const lookups = steps.filter((step): step is LookupStep => step.kind === "lookup");
  return lookups.some(({ table, rules }) => table.domain === "nic_rx" && table.vport === vport && rules > 0);
}

const snifferOnly: Detector = {
  name: "sniffer-does-not-take",
  detect({ context: { trace } }) {
    const { verdict, copies } = trace.outcome;
    const sniffed = trace.steps.some(
      (step) => step.kind === "lookup" && step.table.table === "sniffers" && step.rule !== null,
    );
    if (verdict !== "miss" || !sniffed || copies.length === 0) return null;
    return {
      sentence: `A sniffer got a copy of the frame, and no flow took the frame itself. A sniffer does not replace a flow: create a NORMAL or a default flow.`,
    };
  },
};

const withoutActions: Detector = {
  name: "no-actions",
  detect({ context: { trace, device } }) {
    if (trace.outcome.reason !== "no_destination") return null;
    const last = trace.steps.findLast((step): step is LookupStep => step.kind === "lookup" && step.rule !== null);
    if (last === undefined || last.rule === null) return null;
    const object = device.installed.at(last.rule.id);
    const none = object instanceof Rule && object.actions.length === 0;
    return {
      sentence: none
        ? `Rule "${last.rule.name}" has no actions (num_actions 0), so the frame ends there. Give it a destination.`
        : `Rule "${last.rule.name}" has no action that decides where the frame goes. Give it a destination: a queue, a table, a vport, or drop.`,
    };
  },
};

const otherVport: Detector = {
  name: "other-vport",
  detect({ context }) {
    const { target, trace } = context;
    if (target.kind !== "vport" || context.reached || trace.outcome.reason === "wire_to_wire") return null;
    const step = trace.steps.findLast((one): one is ActionStep => one.kind === "action" && one.action === "vport");
    // A rule that sends copies to several places may send one there as well.
    const isOne = !trace.steps.some((one) => one.kind === "action" && one.action === "array");
    if (step === undefined || step.rule === null || !isOne) return null;
    return {
      sentence: `Rule "${step.rule.name}" sends the frame to ${step.text}, not to ${functionText(target.vport)}. Vport 0 is the PF, 1 the first VF, and 65535 the wire.`,
    };
  },
};

export const PATH: readonly Detector[] = [
  notSynced,
  vportForPort,
  sourcePort,
  otherPort,
  multicastDefault,
  ...registers,
  rewritten,
];

const passedOver: Detector = {
  name: "own-frames-passed-over",
  detect({ context: { rule, trace } }) {
    const step = trace.steps.find((one) => one.kind === "lookup" && one.passedOver && one.rule?.id === rule?.ref.id);
    if (rule === null || step === undefined) return null;
    return {
      sentence: `${called(rule)} matches the frame, but its own queue pair sent it, and a flow does not take frames that its own queue pair sends. Set the flag allow_loop_back (IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK).`,
    };
  },
};

const otherFunction: Detector = {
  name: "flow-of-other-function",
  detect({ context: { rule, trace } }) {
    if (rule === null || rule.table.domain !== "nic_rx") return null;
    const functions = trace.steps.flatMap((step) =>
      step.kind === "lookup" && step.table.domain === "nic_rx" ? [step.table.vport] : [],
    );
    const [at] = functions;
    if (at === undefined || functions.includes(rule.table.vport)) return null;
    return {
      sentence: `${called(rule)} belongs to ${functionText(rule.table.vport)}, and the eSwitch gave the frame to ${functionText(at)}. Each function has its own flows.`,
    };
  },
};

/** Frames that no rule took, where no rule in particular was meant. */
const noMissRule: Detector = {
  name: "no-miss-rule",
  detect({ context: { target, trace, rule }, failing }) {
    const { reason, missed } = trace.outcome;
    const last = missed.at(-1);
    if (reason !== "table_miss" || last === undefined) return null;
    // A target elsewhere that the frame would match never got it; a rule of that table has reasons of its own.
    const elsewhere = rule !== null && rule.table.table !== last.table && failing.length === 0;
    if (target.kind !== "end" && !elsewhere) return null;
    return {
      sentence: `No rule of table "${last.table}" matched, and a non-root table drops what it does not match. Add a last rule without a match that decides where the rest goes.`,
    };
  },
};

export const FATE: readonly Detector[] = [
  passedOver,
  otherFunction,
  otherDirection,
  notLinked,
  noMissRule,
  otherVport,
  noDefaultFlow,
  withoutActions,
  snifferOnly,
];
