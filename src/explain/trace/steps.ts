/** Makes the steps of a trace from the events of the traced core. */
import { Op } from "../../abi/engine.js";
import { DEST_COPY, DEST_PORT } from "../../abi/outcome.js";
import { KEY_SIZE } from "../../abi/key.js";
import { Move, TraceEvent } from "../../abi/trace.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import { operationOf, opName } from "../../model/action/operations.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { Device } from "../../model/device/device.js";
import { readField } from "../../model/match/fields.js";
import { fullMask } from "../../model/match/term.js";
import type { MatchTerm } from "../match/terms.js";
import { headersIn } from "../../model/match/parseResult.js";
import { REGISTER_NAMES } from "../../model/traffic/outcomeReader.js";
import { reasonName, verdictName, type VerdictName } from "../../model/traffic/outcome.js";
import { failedChecks, Texts, priorityOfRank } from "./actionText.js";
import { byteChanges } from "./bytes.js";
import { failedCheck } from "./checks.js";
import { EventReader, type Snapshot } from "./events.js";
import { fieldText, presentFields } from "./fields.js";
import { FullKeys } from "./fullKeys.js";
import { HashReader } from "./hashes.js";
import { type RuleTerms } from "./ruleTerms.js";
import type { Open, OpenAction } from "./openAction.js";
import { rulesIn, ruleRef, tableRef } from "./names.js";
import { StateChanges } from "./stateChanges.js";
import type {
  ActionStep,
  DestinationStep,
  EndStep,
  LookupStep,
  MatchedField,
  MoveStep,
  RuleRef,
  TableRef,
  TraceStep,
} from "./trace.js";

/** A branch as far as the events have come. */
interface Branch {
  readonly number: number;
  table: number;
  vport: number;
  snapshot: Snapshot | null;
  lookup: Open<LookupStep> | null;
  rule: InstalledRule | null;
  ref: RuleRef | null;
  action: OpenAction | null;
  /** The operand of the operation `state` before the next action. */
  parameters: number;
  /** The member of an array that follows its encapsulation. */
  member: { readonly op: number; readonly operand: number } | null;
  end: EndStep | null;
}

const NEW_BRANCH: Branch = {
  number: 0,
  table: 0,
  vport: 0,
  snapshot: null,
  lookup: null,
  rule: null,
  ref: null,
  action: null,
  parameters: 0,
  member: null,
  end: null,
};

/** A lookup, for explanations. Key and frame are views that the next trace overwrites. */
export interface LookupRecord {
  readonly step: LookupStep;
  /** The address of the table. */
  readonly table: number;
  /** The address of the rule that it found; 0 for none. */
  readonly rule: number;
  /** The words of the first rank that it considers. */
  readonly low: number;
  readonly high: number;
  readonly key: Uint8Array;
  /** The branch when it was last parsed or changed. */
  readonly snapshot: Snapshot;
}

const MOVES: Readonly<Record<number, MoveStep["cause"]>> = {
  [Move.jump]: "jump",
  [Move.resume]: "resume",
  [Move.miss]: "miss",
  [Move.egress]: "egress",
  [Move.vport]: "vport",
  [Move.fdb_default]: "fdb_default",
};

/** Of several verdicts of a branch the best one counts (assembly/branch/outcome.ts). */
const PRECEDENCE: Readonly<Record<VerdictName, number>> = { deliver: 4, transmit: 3, forward: 3, miss: 2, drop: 1 };

export class StepBuilder {
  readonly steps: TraceStep[] = [];
  readonly lookups: LookupRecord[] = [];
  readonly #device: Device;
  readonly #traced: TracedCore;
  readonly #terms: RuleTerms;
  readonly #keys: FullKeys;
  readonly #states: StateChanges;
  readonly #hashes: HashReader;
  readonly #actions: OpenAction[] = [];
  /** The number of the first branch of this walk: a frame that is looped back walks again. */
  #first = 0;
  #branches = new Map<number, Branch>();
  #destinations: Open<DestinationStep>[] = [];

  constructor(device: Device, traced: TracedCore, terms: RuleTerms) {
    this.#device = device;
    this.#traced = traced;
    this.#terms = terms;
    this.#keys = new FullKeys(traced);
    this.#states = new StateChanges(device, traced.core);
    this.#hashes = new HashReader(traced.core);
  }

  /**
   * Adds the steps of a walk, whose outcome is in the batch of the traced core.
   * @param vport the function whose tables the frame meets first
   */
  add(events: Uint8Array, vport: number): void {
    const reader = new EventReader(events);
    this.#branches = new Map();
    this.#destinations = [];
    this.#branchAt(this.#first, vport);
    while (reader.next()) this.#event(reader);
    this.#first += this.#branches.size;
    this.#refusals();
    this.#states.closeWalk();
  }

  /** The frame is looped back: its next walk begins at a table. */
  loopBack(table: number): void {
    const to = this.#tableRef(table, 0);
    this.steps.push({ kind: "move", branch: this.#first, to, cause: "loopback" });
  }

  /** Fills in what the whole trace is needed for. The traced core has the state after the frame still. */
  finish(): void {
    this.#states.finish();
    const texts = new Texts(this.#device, this.#traced.core);
    for (const action of this.#actions) {
      action.step.text = texts.of(action);
      const failed = failedChecks(action);
      if (failed.length > 0) action.step.failed = failed;
    }
    this.#keys.finish();
  }

  #event(reader: EventReader): void {
    const branch = this.#branchAt(this.#first + reader.branch, 0);
    switch (reader.kind) {
      case TraceEvent.parsed:
        this.#parsed(branch, reader.snapshot);
        break;
      case TraceEvent.lookup:
        this.#lookup(branch, reader);
        break;
      case TraceEvent.action:
        this.#action(branch, reader);
        break;
      case TraceEvent.member:
        this.#member(branch, reader);
        break;
      case TraceEvent.changed:
        this.#changed(branch, reader.snapshot);
        break;
      case TraceEvent.fork:
        this.#fork(branch, this.#first + reader.word(0));
        break;
      case TraceEvent.move:
        this.#move(branch, reader);
        break;
      case TraceEvent.verdict:
        this.#verdict(branch, reader.word(0), reader.word(1));
        break;
      case TraceEvent.destination:
        this.#destination(branch, reader.word(0), reader.word(1));
        break;
      case TraceEvent.state:
        this.#states.add(reader, branch.action);
        break;
      case TraceEvent.hashed:
        this.#hashes.add(reader);
        break;
      case TraceEvent.hash:
        if (branch.action !== null) branch.action.step.hash = this.#hashes.close(reader, branch.snapshot);
        break;
      case TraceEvent.check:
        if (branch.action !== null)
          branch.action.failed.push(failedCheck(reader, this.#traced.core, branch.action.operand));
        break;
      case TraceEvent.register:
        this.#register(branch, REGISTER_NAMES[reader.word(0)] as string);
        break;
    }
  }

  #branchAt(number: number, vport: number): Branch {
    let branch = this.#branches.get(number);
    if (branch === undefined) {
      branch = { ...NEW_BRANCH, number, vport };
      this.#branches.set(number, branch);
    }
    return branch;
  }

  #tableRef(table: number, vport: number): TableRef {
    return tableRef(this.#device, table, vport, this.#traced.core);
  }

  /** An action may need the headers of a changed frame: then the frame is parsed before the action has ended. */
  #parsed(branch: Branch, snapshot: Snapshot): void {
    const again = branch.snapshot !== null;
    const { headers, payload, stopped } = headersIn(snapshot.map);
    const fields = presentFields(snapshot.key);
    this.steps.push({ kind: "parse", branch: branch.number, again, headers, payload, stopped, fields });
    branch.snapshot = snapshot;
    this.#keys.know(snapshot);
  }

  #lookup(branch: Branch, reader: EventReader): void {
    const [address, rule, low, high] = [reader.word(0), reader.word(1), reader.word(2), reader.word(3)];
    const key = reader.bytes(16, KEY_SIZE);
    branch.table = address;
    branch.action = null;
    branch.rule = rule === 0 ? null : this.#ruleAt(rule);
    branch.ref = branch.rule === null ? null : ruleRef(branch.rule);
    const terms = branch.rule === null ? [] : this.#terms.of(branch.rule, rule);
    const step: Open<LookupStep> = {
      kind: "lookup",
      branch: branch.number,
      table: this.#tableRef(address, branch.vport),
      rules: rulesIn(this.#device, address),
      fromPriority: priorityOfRank(high, low),
      rule: branch.ref,
      matched: terms.map((term) => matchedField(term, key)),
      passedOver: false,
    };
    branch.lookup = step;
    this.steps.push(step);
    this.lookups.push({ step, table: address, rule, low, high, key, snapshot: branch.snapshot as Snapshot });
  }

  #ruleAt(address: number): InstalledRule {
    return this.#device.installed.at(this.#traced.storedRule(address).id);
  }

  #action(branch: Branch, reader: EventReader): void {
    const [op, operand] = [reader.word(2), reader.word(3)];
    const { changes, prepares } = operationOf(op);
    if (changes === "parameters") branch.parameters = operand;
    branch.action = null;
    if (!prepares) this.#begin(branch, this.#ruleAt(reader.word(0)), op, operand);
  }

  /** A member of an array, which may encapsulate the frame first, or an action of a sampler. */
  #member(branch: Branch, reader: EventReader): void {
    const [op, operand, reformat] = [reader.word(0), reader.word(1), reader.word(2)];
    const rule = branch.rule as InstalledRule;
    if (reformat === 0) {
      this.#begin(branch, rule, op, operand);
      return;
    }
    this.#begin(branch, rule, Op.reformat, reformat);
    branch.parameters = 0;
    branch.member = { op, operand };
  }

  #begin(branch: Branch, rule: InstalledRule, op: number, operand: number): void {
    const step: Open<ActionStep> = {
      kind: "action",
      branch: branch.number,
      rule: branch.ref,
      action: opName(op),
      text: "",
      fields: [],
      bytes: [],
      state: [],
    };
    const { parameters, vport } = branch;
    branch.action = {
      step,
      rule,
      op,
      operand,
      parameters,
      vport,
      destinations: [],
      forked: false,
      failed: [],
      object: "",
      key: null,
    };
    this.#actions.push(branch.action);
    this.steps.push(step);
  }

  #changed(branch: Branch, after: Snapshot): void {
    const { action, snapshot: before } = branch;
    branch.snapshot = after;
    if (action === null || before === null) return;
    action.key = after.key;
    action.step.bytes = byteChanges(before.bytes, after.bytes);
    this.#keys.compare(before, after, action.step);
    if (branch.member === null) return;
    const { op, operand } = branch.member;
    branch.member = null;
    this.#begin(branch, action.rule, op, operand);
  }

  #register({ action }: Branch, name: string): void {
    if (action === null) return;
    const { registers = [] } = action.step;
    if (!registers.includes(name)) action.step.registers = [...registers, name];
  }

  #fork(branch: Branch, into: number): void {
    if (branch.action !== null) branch.action.forked = true;
    this.steps.push({ kind: "fork", branch: branch.number, into });
    this.#branches.set(into, { ...branch, number: into, action: null, end: null });
  }

  #move(branch: Branch, reader: EventReader): void {
    const [table, cause, vport] = [reader.word(0), reader.word(1), reader.word(2)];
    if (cause === (Move.passed_over as number)) {
      if (branch.lookup !== null) branch.lookup.passedOver = true;
      return;
    }
    if (cause === (Move.vport as number) || cause === (Move.fdb_default as number)) branch.vport = vport;
    branch.table = table;
    const to = this.#tableRef(table, branch.vport);
    this.steps.push({ kind: "move", branch: branch.number, to, cause: MOVES[cause] as MoveStep["cause"] });
  }

  /** A branch ends once: with the best of its verdicts, after its last destination. */
  #verdict(branch: Branch, verdict: number, reason: number): void {
    const table = this.#tableRef(branch.table, branch.vport);
    const end: EndStep = {
      kind: "end",
      branch: branch.number,
      verdict: verdictName(verdict),
      reason: reasonName(reason),
      table,
    };
    if (branch.end !== null) {
      this.steps.splice(this.steps.lastIndexOf(branch.end), 1);
      branch.end = PRECEDENCE[end.verdict] > PRECEDENCE[branch.end.verdict] ? end : branch.end;
    } else branch.end = end;
    this.steps.push(branch.end);
  }

  #destination(branch: Branch, queue: number, flags: number): void {
    const place = (flags & DEST_PORT) === 0 ? this.#device.queues.get(queue) : this.#device.hardware.ports[queue - 1];
    const to = place?.label ?? "";
    branch.action?.destinations.push(to);
    const step: Open<DestinationStep> = {
      kind: "destination",
      branch: branch.number,
      to,
      copy: (flags & DEST_COPY) !== 0,
      refused: null,
      state: [],
    };
    this.#destinations.push(step);
    this.#states.queueOf(step, (flags & DEST_PORT) === 0 ? queue : 0);
    this.steps.push(step);
  }

  /** Queues decide after the walk whether they take a frame. */
  #refusals(): void {
    const { batch } = this.#traced;
    let at = batch.firstDestination(0);
    for (const step of this.#destinations) {
      step.refused = reasonName(batch.statusOf(at));
      at = batch.nextDestination(at);
    }
  }
}

/** A value is written as its term: a term with a mask of a number has hexadecimal digits. */
function matchedField({ field, wanted, mask }: MatchTerm, key: Uint8Array): MatchedField {
  const masked = field.kind === "number" && mask !== 0n && mask !== fullMask(field);
  const found = masked ? `0x${readField(key, field).toString(16)}` : (fieldText(key, field) ?? "");
  return { field: field.name, wanted, found };
}
