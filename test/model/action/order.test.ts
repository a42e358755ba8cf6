/**
 * Compares the automaton of action orders with that of rdma-core, step by step: existing and
 * missing transitions.
 */
import { describe, expect, test } from "vitest";
import { nextState, ORDER_STATES, type OrderKind } from "../../../src/model/action/order.js";
import type { DirectionName } from "../../../src/model/table/directions.js";
import table from "../../vectors/action-order.json" with { type: "json" };

type Steps = Readonly<Record<string, string>>;
const AUTOMATA: Readonly<Record<string, Readonly<Record<string, Steps>>>> = table.domains;

const SIDES: Readonly<Record<string, DirectionName>> = {
  NIC_INGRESS: "nicReceived",
  NIC_EGRESS: "nicSent",
  FDB_INGRESS: "fdbReceived",
  FDB_EGRESS: "fdbSent",
};

/** Every kind that appears in a state of either side. */
const KINDS = [
  ...new Set(
    Object.values(AUTOMATA)
      .flatMap(Object.values<Steps>)
      .flatMap((steps) => Object.keys(steps)),
  ),
] as OrderKind[];

test("the table has the steps and kinds that it is said to have", () => {
  expect(KINDS.length).toBe(21);
  const steps = Object.values(AUTOMATA).flatMap(Object.values<Steps>);
  expect(steps.reduce((sum, one) => sum + Object.keys(one).length, 0)).toBe(390);
  expect(Object.keys(AUTOMATA).sort()).toEqual(Object.keys(SIDES).sort());
});

describe.each(Object.entries(SIDES))("%s", (name, side) => {
  test.each(ORDER_STATES.map((state) => [state]))("from %s", (state) => {
    const wanted = AUTOMATA[name]?.[state] ?? {};
    const found = KINDS.map((kind) => [kind, nextState(side, state, kind)]).filter(([, next]) => next !== undefined);
    expect(Object.fromEntries(found)).toEqual(wanted);
  });
});
