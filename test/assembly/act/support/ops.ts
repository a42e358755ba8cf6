/**
 * A plain reading of the operations of src/abi/engine.ts, one frame at a time: what the walk and the delivery of the core
 * are held to, op by op. What the manual pages say of them is in test/oracle/.
 */
import {
  DESTINATIONS_PER_FRAME,
  HITS_PER_FRAME,
  HOP_LIMIT,
  MISS_LIMIT,
  Op,
  RANK_SLOT,
} from "../../../../src/abi/engine.js";
import { Reason, Verdict } from "../../../../src/abi/outcome.js";

export interface PlainRule {
  id: number;
  rank: bigint;
  /** Asks for the port of the frame. */
  mask: number;
  value: number;
  /** Operations with their operands. */
  actions: [Op, number][];
}

export interface PlainTable {
  root: boolean;
  send: boolean;
  rules: PlainRule[];
  /** What gets what nobody here wants. */
  next: PlainTable | null;
}

export interface PlainDestination {
  /** Or the number of a port. */
  queue: number;
  port: boolean;
  copy: boolean;
  tag: number;
  status: number;
}

export interface PlainOutcome {
  verdict: number;
  reason: number;
  tag: number;
  hits: number[];
  destinations: PlainDestination[];
}

export interface PlainWorld {
  tables: ReadonlyMap<number, PlainTable>;
  counters: Map<number, number>;
  /** Why a queue would not take a frame now; a frame that it takes uses a buffer. */
  take(queue: number): number;
  reasons: number[];
}

const NONE: number = Reason.none;
const COPY_LIMIT: number = Reason.copy_limit;

/** The frame of a port, from a table to its destinations. `sender` is 0 unless the frame is looped back. */
export function runPlain(world: PlainWorld, root: PlainTable, port: number, sender: number): PlainOutcome {
  const outcome = walkPlain(world, root, port, sender);
  const { destinations } = outcome;
  const over = destinations.splice(DESTINATIONS_PER_FRAME);
  for (const one of destinations) if (!one.port) one.status = world.take(one.queue);
  const refused = destinations.filter(({ status }) => status !== NONE);
  const first = refused.find(({ copy }) => !copy);
  const arrived = destinations.some(({ copy, status }) => !copy && status === NONE);
  if (outcome.verdict !== (Verdict.drop as number) && outcome.verdict !== (Verdict.miss as number) && !arrived) {
    outcome.verdict = Verdict.drop;
    outcome.reason = first?.status ?? COPY_LIMIT;
  }
  // Every destination that was not reached counts once, the one that gives the frame its reason with the frame.
  for (const { status } of refused) world.reasons[status]!++;
  world.reasons[COPY_LIMIT]! += over.length;
  const counted = outcome.reason === COPY_LIMIT || (first !== undefined && !arrived);
  if (!counted) world.reasons[outcome.reason]!++;
  return outcome;
}

function walkPlain(world: PlainWorld, root: PlainTable, port: number, sender: number): PlainOutcome {
  const outcome: PlainOutcome = { verdict: Verdict.none, reason: Reason.none, tag: -1, hits: [], destinations: [] };
  const end = (verdict: Verdict, reason: Reason): PlainOutcome => Object.assign(outcome, { verdict, reason });
  const destination = (queue: number, copy: boolean, leaves: boolean): PlainDestination => {
    return { queue, port: leaves, copy, tag: Math.max(outcome.tag, 0), status: Reason.none };
  };
  const transmit = (): PlainOutcome => {
    outcome.destinations.push(destination(port, false, true));
    return end(Verdict.transmit, Reason.none);
  };
  let table = root;
  let lower = 0n;
  let hops = 0;
  let misses = 0;
  let asked = false;
  for (;;) {
    const rule = first(table, port, lower, sender);
    if (rule !== undefined && hops > HOP_LIMIT) return end(Verdict.drop, Reason.hop_limit);
    let onward: "miss" | "hop" | "resume" | "end" = rule === undefined ? "miss" : "end";
    let next = table;
    let from = 0n;
    if (rule !== undefined) {
      if (outcome.hits.length < HITS_PER_FRAME) outcome.hits.push(rule.id);
      let skip = false;
      record: for (const [op, operand] of rule.actions) {
        if (skip) {
          skip = false;
          continue;
        }
        const deliver = (copy: boolean): void => {
          outcome.destinations.push(destination(operand, copy, false));
          if (!copy) outcome.verdict = Verdict.deliver;
        };
        switch (op) {
          case Op.none:
            break;
          case Op.not_for:
            skip = operand === sender;
            break;
          case Op.untag:
            outcome.tag = -1;
            break;
          case Op.tag:
            outcome.tag = operand;
            break;
          case Op.count:
            world.counters.set(operand, (world.counters.get(operand) ?? 0) + 1);
            break;
          case Op.drop:
            return end(Verdict.drop, Reason.drop_action);
          case Op.default_miss:
            asked = true;
            onward = "miss";
            break record;
          case Op.copy_from_others:
            if (operand !== sender) deliver(true);
            break;
          case Op.copy_queue:
            deliver(true);
            break;
          case Op.queue_from_others:
            if (operand !== sender) deliver(false);
            break;
          case Op.queue:
            deliver(false);
            break;
          case Op.table:
            onward = "hop";
            next = world.tables.get(operand)!;
            break record;
          case Op.resume:
            outcome.tag = -1;
            onward = "resume";
            from = ((rule.rank >> BigInt(RANK_SLOT)) + 1n) << BigInt(RANK_SLOT);
            break record;
          case Op.pass:
            outcome.tag = -1;
            onward = "miss";
            break record;
          default:
            throw new Error(`${Op[op]} is held to test/oracle/`);
        }
      }
    }
    if (onward === "end") {
      if (outcome.verdict === (Verdict.deliver as number)) return outcome;
      return table.send ? transmit() : end(Verdict.drop, Reason.no_destination);
    }
    if (onward === "miss") {
      if (table.next === null || sender !== 0 || misses++ === MISS_LIMIT) {
        if (table.send) return transmit();
        if (table.root && sender !== 0) return end(Verdict.miss, Reason.none);
        if (table.root) return end(Verdict.miss, asked ? Reason.default_miss : Reason.no_rule);
        return end(Verdict.drop, asked ? Reason.default_miss : Reason.table_miss);
      }
      next = table.next;
      hops = Math.min(hops, HOP_LIMIT);
    } else if (hops++ === HOP_LIMIT && onward === "hop") return end(Verdict.drop, Reason.hop_limit);
    else if (onward === "hop") misses = 0;
    table = next;
    lower = from;
  }
}

/** The first rule by rank that matches, and that answers the sender. */
function first(table: PlainTable, port: number, lower: bigint, sender: number): PlainRule | undefined {
  return table.rules
    .filter(({ rank, mask, value }) => rank >= lower && (port & mask) === (value & mask))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .find(({ actions }) => sender === 0 || answers(actions, sender));
}

/** Not so a rule whose drop is the sender's, or whose every destination is. */
function answers(ops: PlainRule["actions"], sender: number): boolean {
  const dropped = ops.find(([op]) => op === Op.drop);
  const others = ops.filter(([op]) => op === Op.copy_from_others || op === Op.queue_from_others);
  const always = ops.some(([op]) => op === Op.copy_queue || op === Op.queue);
  if (always || others.some(([, owner]) => owner !== sender)) return true;
  return dropped === undefined ? others.length === 0 : dropped[1] !== sender;
}
