// The second opinion on the walk of one frame through the tables of a NIC_RX domain (mlx5dv_dr manual page, domain and
// action sections): match, run the rule's actions in the device's order, go on at the table that a rule names.

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
  /** Queue pairs that get the frame. */
  to: string[];
  tag: number | null;
  /** Ids of the rules hit, in order. */
  rules: string[];
}

/** Jumps from table to table that a frame may make; the next one drops it. */
export const MAX_JUMPS = 64;

const TERMINAL = new Set<Action["kind"]>(["drop", "defaultMiss", "qp", "table"]);

/**
 * Walks one frame. `tables` are by name and exactly one has level 0; `counters` are changed in place, and made when
 * missing. `wireLength` is what the counters add to their bytes; `jumped` are jumps that the frame has made before.
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
    // SPEC: the jump is refused on arrival: the rule that made it was hit, and its tag and counters count.
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

/** Tag, then counters, then the terminal action, whatever the order of the list. */
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
