// Reference of the walk of one frame through the tables of a NIC_RX domain (mlx5dv_dr manual page,
// domain and action sections): match, run the actions of the rule in the device's order, continue
// in the table that the rule names.

import { type Fields, type ReferenceRule, firstMatch } from "./match.js";

export type Action =
  | { kind: "drop" }
  | { kind: "defaultMiss" }
  | { kind: "qp"; qp: string }
  | { kind: "table"; table: string }
  | { kind: "tag"; value: number }
  | { kind: "counter"; counter: string };

export interface Table {
  /** 0 is the root table, where every frame starts. */
  level: number;
  rules: ReferenceRule<Action>[];
}

export interface Counter {
  packets: bigint;
  bytes: bigint;
}

export interface Outcome {
  verdict: "deliver" | "drop" | "miss";
  reason: string | null;
  /** Queue pairs that receive the frame. */
  to: string[];
  tag: number | null;
  /** Ids of the rules hit, in order. */
  rules: string[];
}

/** Maximum number of jumps between tables; the next jump drops the frame. */
export const MAX_JUMPS = 64;

const TERMINAL = new Set<Action["kind"]>(["drop", "defaultMiss", "qp", "table"]);

/**
 * Walks one frame. `tables` are by name and exactly one has level 0; `counters` are changed in
 * place, and created if missing. `wireLength` is the length that byte counters add; `jumped` is the
 * number of earlier jumps of the frame.
 */
export function walkReference(
  tables: ReadonlyMap<string, Table>,
  fields: Fields,
  wireLength: number,
  counters: Map<string, Counter>,
  jumped = 0,
): Outcome {
  const outcome: Outcome = { verdict: "miss", reason: null, to: [], tag: null, rules: [] };
  let table = [...tables.values()].find(({ level }) => level === 0);
  if (!table) throw new Error("no root table");

  for (let jumps = jumped; ; jumps++) {
    // SPEC: the jump is refused on arrival: the rule that jumped was hit, and its tag and counters
    // count.
    if (jumps > MAX_JUMPS) return end(outcome, "drop", "hop_limit");
    const root = table.level === 0;
    const rule = firstMatch(table.rules, fields);
    if (!rule) return root ? end(outcome, "miss", "no_rule") : end(outcome, "drop", "table_miss");
    outcome.rules.push(rule.id);

    const terminal = runActions(rule, outcome, wireLength, counters);
    switch (terminal?.kind) {
      case undefined:
        return end(outcome, "drop", "no_destination");
      case "drop":
        return end(outcome, "drop", "drop_action");
      case "defaultMiss":
        return end(outcome, root ? "miss" : "drop", "default_miss");
      case "qp":
        outcome.to.push(terminal.qp);
        return end(outcome, "deliver", null);
      case "table": {
        const next = tables.get(terminal.table);
        if (!next) throw new Error(`no table ${terminal.table}`);
        table = next;
      }
    }
  }
}

type Terminal = Exclude<Action, { kind: "tag" | "counter" }>;

/** Tag, then counters, then the terminal action, in any order of the list. */
function runActions(
  rule: ReferenceRule<Action>,
  outcome: Outcome,
  wireLength: number,
  counters: Map<string, Counter>,
): Terminal | undefined {
  for (const action of rule.actions) {
    if (action.kind === "tag") outcome.tag = action.value & 0xffffff;
  }
  for (const action of rule.actions) {
    if (action.kind === "counter") count(counters, action.counter, wireLength);
  }
  const terminals = rule.actions.filter((action): action is Terminal => TERMINAL.has(action.kind));
  if (terminals.length > 1) throw new Error(`rule ${rule.id} has two terminal actions`);
  return terminals[0];
}

function count(counters: Map<string, Counter>, name: string, wireLength: number): void {
  const { packets, bytes } = counters.get(name) ?? { packets: 0n, bytes: 0n };
  counters.set(name, { packets: packets + 1n, bytes: bytes + BigInt(wireLength) });
}

/** SPEC: a tag that was set before a drop or a miss stays in the outcome. */
function end(outcome: Outcome, verdict: Outcome["verdict"], reason: string | null): Outcome {
  return { ...outcome, verdict, reason };
}
