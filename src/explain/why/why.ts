/** Why a frame did not come to a rule, a table, a queue or a vport, or why it ended as it did. */
import { inCall } from "../../errors.js";
import { unsigned } from "../../base/checks.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { FrameOptions } from "../../model/traffic/input.js";
import type { SendOptions } from "../../model/traffic/send.js";
import type { Judge, RepairContext, RuleInTable } from "../repair/context.js";
import { trialOn } from "../repair/trial.js";
import { mistakeIn } from "../repair/mistake.js";
import { repairsFor } from "../repair/repairs.js";
import { stateRegisters } from "../repair/guarded.js";
import type { Tracer } from "../trace/tracer.js";
import { answerFor, labelsOf } from "./answers/answers.js";
import { Case, type Answer, type Focus } from "./case.js";
import type { Explanation, Near } from "./explanation.js";
import { nearestRules, nearOf } from "./nearest.js";
import type { RuleNode } from "./rules.js";
import { findTarget, type FoundTarget, type WhyTarget } from "./targets.js";
import { withParts } from "./parts.js";
import { isStopped } from "./reasons/writers.js";
import { comesTo, type Steer } from "./comesTo.js";
import type { Visit } from "./walked.js";
import { walkedOf } from "./walks.js";

/** Options of all explanations. */
interface RepairOptions {
  /** Whether to look for repairs and known mistakes; each repair is tried on the traced core. @default true */
  repairs?: boolean;
}

export interface WhyOptions extends FrameOptions, RepairOptions {}
export interface WhySendOptions extends SendOptions, RepairOptions {}

/** Explains frames of one device. */
export class Explainer {
  readonly #tracer: Tracer;
  readonly #judge: Judge | null;

  /** @internal Without a judge, repairs have no standing. */
  constructor(tracer: Tracer, judge: Judge | null = null) {
    this.#tracer = tracer;
    this.#judge = judge;
  }

  /** As the function `why`, at once. */
  why(
    port: number,
    frame: Uint8Array,
    target: WhyTarget,
    { repairs = true, ...options }: WhyOptions = {},
  ): Explanation {
    return inCall("why", () => {
      const found = findTarget(this.#tracer.device, target);
      const timed = { ...options, time: options.time ?? this.#tracer.device.now() };
      return this.#explain(frame, timed, found, repairs, (changed) =>
        walkedOf(this.#tracer, this.#tracer.walk(port, changed, { ...timed, ...lengthOf(changed, frame, timed) })),
      );
    });
  }

  /** As the function `whySend`, at once. */
  whySend(
    qp: QueuePair,
    frame: Uint8Array,
    target: WhyTarget,
    { repairs = true, ...options }: WhySendOptions = {},
  ): Explanation {
    return inCall("whySend", () => {
      const found = findTarget(this.#tracer.device, target);
      const timed = { ...options, time: options.time ?? this.#tracer.device.now() };
      return this.#explain(frame, {}, found, repairs, (changed) =>
        walkedOf(this.#tracer, this.#tracer.walkSent(qp, changed, timed)),
      );
    });
  }

  /** As the function `nearest`, at once. */
  nearest(port: number, frame: Uint8Array, n: number, options: FrameOptions = {}): Near[] {
    return inCall("nearest", () => {
      const most = unsigned("n", n, 32);
      const at = new Case(walkedOf(this.#tracer, this.#tracer.walk(port, frame, options)));
      return nearestRules(at, most).map((one) => nearOf(at, one));
    });
  }

  #explain(frame: Uint8Array, options: FrameOptions, target: FoundTarget, repairs: boolean, steer: Steer): Explanation {
    const at = new Case(steer(frame));
    const answer = withParts(at, answerFor(at, target));
    const { sentence, reached, reasons } = answer;
    const bare = { target: target.data, reached, sentence, reasons };
    if (!repairs) return { ...bare, mistake: null, repairs: [] };
    const context = this.#contextOf(at, target, answer, frame, options, steer);
    return context === null
      ? { ...bare, mistake: null, repairs: [] }
      : { ...bare, mistake: mistakeIn(context), repairs: repairsFor(context) };
  }

  /** Null for a frame that met no table. */
  #contextOf(
    at: Case,
    target: FoundTarget,
    { reached, reasons }: Answer,
    frame: Uint8Array,
    options: FrameOptions,
    steer: Steer,
  ): RepairContext | null {
    const { focus, walked } = at;
    const visit = focus?.visit ?? walked.visits.at(-1);
    if (visit === undefined) return null;
    const node = focus?.node ?? nearestTo(at, visit);
    const beyond = focus === null ? null : nearestTo(at, visit);
    const labels = labelsOf(at, target);
    const nearestId = target.kind === "end" ? ((beyond ?? node)?.stored.id ?? null) : null;
    return {
      device: walked.device,
      target: target.data,
      reached,
      reasons,
      frame,
      options,
      trace: walked.trace,
      rule: node === null ? null : storedOf(at, node),
      beyond: beyond === null ? null : storedOf(at, beyond),
      key: visit.key,
      frameThere: visit.bytes,
      lookup: visit.step,
      taker: takerOf(at, focus),
      trial: trialOn(walked.traced, walked.device.parser, frame, (changed) =>
        comesTo(steer(changed), target, labels, nearestId),
      ),
      holdsState: (register) => holdsState(at, register),
      stopped: node !== null && isStopped(walked, visit, at.rules.matchOf(node)),
      judge: this.#judge,
    };
  }
}

/** The wire length of a changed frame: it changes with the captured length. */
function lengthOf(changed: Uint8Array, frame: Uint8Array, { wireLength }: FrameOptions): FrameOptions {
  return wireLength === undefined
    ? {}
    : { wireLength: Math.max(changed.length, wireLength + changed.length - frame.length) };
}

function storedOf({ rules }: Case, node: RuleNode): RuleInTable {
  const { table, stored, object } = node;
  return {
    ...rules.contentOf(node),
    ref: rules.refOf(node),
    table: rules.tableRefOf(table),
    object,
    inCore: { table, stored },
  };
}

function holdsState({ walked: { device, traced } }: Case, register: number): boolean {
  return [...device.tables.keys()].some((table) =>
    traced.rulesOf(table).some((stored) => stateRegisters(traced.actionsOf(stored)).includes(register)),
  );
}

/** Of the rules whose tables the frame never came to, the one that is nearest to the frame. */
function nearestTo({ rules, unreached }: Case, visit: Visit): RuleNode | null {
  let [best, nearest]: [number, RuleNode | null] = [Infinity, null];
  for (const node of unreached) {
    const score = rules.scoreAt(node, visit, best);
    if (score < best) [best, nearest] = [score, node];
  }
  return nearest;
}

/** The rule that took the frame at the lookup of the focus, if it is another one. */
function takerOf(at: Case, focus: Focus | null): RuleInTable | null {
  if (focus === null || focus.visit.rule === 0 || focus.visit.rule === focus.node.stored.address) return null;
  return storedOf(at, at.rules.ruleAt(focus.node.table, focus.visit.rule));
}
