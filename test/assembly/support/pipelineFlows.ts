/** Flows of the verbs beside the direct rules of a random device. */
import type { VerbsFlow } from "../../../src/model/flow/verbsFlow.js";
import * as v from "../../../src/verbs/index.js";
import { drawFlow, type DrawnFlow, identity } from "../../oracle/generate/pipelineFlow.js";
import { rankOf } from "../../oracle/walk/match.js";
import { tableNamed } from "../../oracle/walk/pipeline.js";
import { count } from "../../verbs/support/flowWorld.js";
import type { PipelineWorld } from "./pipelineWorld.js";

export interface MadeFlow {
  drawn: DrawnFlow;
  flow: VerbsFlow;
}

/** A flow that is not the same as another one: those would be one entry. */
export function addFlow(world: PipelineWorld): void {
  const { flows, queues, names, tally } = world;
  const drawn = drawFlow(world);
  if (!drawn) return;
  const all = [...flows.values()];
  if (all.some((one) => identity(one.drawn, true) === identity(drawn, true))) return;
  const flow = v.ibv_create_flow(queues.get(drawn.qp)!, drawn.attr);
  names.set(flow, drawn.id);
  const { id, table, attr, terms, actions } = drawn;
  const { root, rules } = tableNamed(world.world, table);
  const rank = rankOf({ priority: attr.priority, matcher: ageOfMask(world, drawn), rule: world.order++ }, root);
  rules.push({ id, rank, terms, ranges: [], actions });
  flows.set(id, { drawn, flow });
  count(tally, table.startsWith("nic_tx") ? "egress flow" : "flow");
}

/** A mask is as old as the first flow that asked it at its priority, while there is one. */
function ageOfMask(world: PipelineWorld, drawn: DrawnFlow): number {
  const name = identity(drawn, false);
  const there = [...world.flows.values()].some((one) => identity(one.drawn, false) === name);
  const age = there ? world.flowMasks.get(name)! : world.order++;
  world.flowMasks.set(name, age);
  return age;
}

export function removeFlows({ random, flows, world }: PipelineWorld, chance: number): void {
  for (const [id, { drawn, flow }] of flows) {
    if (!random.chance(chance)) continue;
    v.ibv_destroy_flow(flow);
    flows.delete(id);
    const table = tableNamed(world, drawn.table);
    table.rules = table.rules.filter((one) => one.id !== id);
  }
}
