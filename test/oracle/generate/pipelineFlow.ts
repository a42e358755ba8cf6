// Random verbs flows beside the direct rules of random devices: NORMAL flows that end the path of a
// frame, and EGRESS flows. In the reference they are rules of the root tables (docs/flows.md, "One
// order for a port and a direction").

import { type FlowSpec, SPEC, merged, specsAreValid, termsOf } from "../flow/spec.js";
import { FLAG, TYPE } from "../flow/flows.js";
import { randomFlowFor } from "./flow.js";
import { type Draft, PRIORITIES, visitsOf } from "./pipeline.js";
import { type Term } from "../walk/match.js";
import { type PipelineAction, tableNamed } from "../walk/pipeline.js";

export interface DrawnFlow {
  id: string;
  /** A root table of NIC_RX, or of NIC_TX. */
  table: string;
  qp: string;
  attr: { type: number; priority: number; port: number; flags: number; specs: FlowSpec[] };
  terms: Term[];
  actions: PipelineAction[];
}

/**
 * A flow for a frame that enters a root table, usually one where it misses; null if no flow is
 * possible.
 */
export function drawFlow(draft: Draft): DrawnFlow | null {
  const { random, world } = draft;
  const visits = visitsOf(draft).filter(({ table }) => /^nic_[rt]x:\d+$/.test(table));
  const open = visits.filter(({ hit }) => !hit);
  if (visits.length === 0) return null;
  const { table, fields } = random.pick(open.length > 0 && random.chance(0.75) ? open : visits);
  const { domain, vport } = tableNamed(world, table);
  const egress = domain === "nic_tx";
  const specs = randomFlowFor(fields, random, { near: random.pick(["hit", "hit", "bit"]) }).specs.filter(
    ({ type }) => !egress || type !== SPEC.ACTION_TAG,
  );
  const port = Number(fields.get("ext.port"));
  // The sender of a returned frame receives it too, if the flow allows it.
  const flags = egress ? FLAG.EGRESS : FLAG.ALLOW_LOOP_BACK;
  const asked = merged(termsOf(specs));
  if (!asked || !specsAreValid(specs)) return null;
  const qp = random.pick([...world.queues].filter(([, queue]) => queue.vport === vport))[0];
  return {
    id: `f${draft.made++}`,
    table,
    qp,
    attr: { type: TYPE.NORMAL, priority: random.pick(PRIORITIES), port, flags, specs },
    terms: [...asked, { field: "ext.port", mask: 0xffn, value: BigInt(port) }],
    actions: actionsOf(specs, qp, egress),
  };
}

function actionsOf(specs: readonly FlowSpec[], qp: string, egress: boolean): PipelineAction[] {
  const tag = specs.find(({ type }) => type === SPEC.ACTION_TAG)?.tag_id;
  const tags: PipelineAction[] = tag === undefined ? [] : [{ kind: "tag", value: tag }];
  if (specs.some(({ type }) => type === SPEC.ACTION_DROP)) return [...tags, { kind: "drop" }];
  return egress ? tags : [...tags, { kind: "qp", qp }];
}

/** The common part of identical flows; without values, the common part of flows with one mask. */
export function identity({ table, attr, terms }: DrawnFlow, withValues: boolean): string {
  const asked = terms.map(({ field, mask, value }) => `${field}/${mask}${withValues ? `=${value & mask}` : ""}`);
  return [table, attr.priority, ...asked].join(" ");
}
