/** Random pipelines, with a frame's route through them. */
import type { Pipeline, PipelineEnd, PipelineRule, PipelineTable } from "../../../../playground/src/engine/api.js";
import type { Hop, Route } from "../../../../playground/src/way/picture/route.js";
import { ruleKey } from "../../../../playground/src/way/picture/rows.js";
import type { Random } from "../../../oracle/generate/random.js";

const DOMAINS = ["nic_tx", "fdb", "nic_rx"] as const;

export interface PipelineSizes {
  readonly tables: number;
  readonly rules: number;
  readonly ends: number;
}

/** Rules lead anywhere, backwards and to their own table as well. */
export function randomPipeline(random: Random, { tables, rules, ends }: PipelineSizes): Pipeline {
  const endIds = Array.from({ length: ends }, (_, i): PipelineEnd => ({
    id: `qp:q${i}`,
    kind: "qp",
    name: `q${i}`,
    path: `queues[${i}]`,
  }));
  const ids = Array.from({ length: tables }, (_, i) => {
    const domain = DOMAINS[random.below(3)] ?? "fdb";
    const vport = domain === "fdb" ? 0 : random.below(3);
    return { domain, vport, name: `t${i}`, id: `${domain}/${vport}/t${i}` };
  });
  const targets = [...ids, ...endIds].map(({ id }) => id);
  const target = (): string => targets[random.below(targets.length)] ?? "";
  let number = 0;
  const rule = (): PipelineRule => {
    const path = `rules[${number++}]`;
    const leadsTo = Array.from({ length: random.below(3) }, target);
    return {
      name: "r".repeat(1 + random.below(40)),
      kind: "rule",
      path,
      priority: number,
      match: [],
      actions: [],
      leadsTo,
    };
  };
  return {
    tables: ids.map((one, i): PipelineTable => {
      const missing = random.below(2) === 0 ? null : target();
      const count = random.below(rules + 1);
      return { ...one, level: i, rules: Array.from({ length: count }, rule), path: `tables[${i}]`, miss: missing };
    }),
    ends: endIds,
    ports: 2,
    vports: 2,
  };
}

/** Goes from table to table at random, and ends anywhere. */
export function randomRoute(random: Random, pipeline: Pipeline): Route {
  const hops: Hop[] = [];
  let from: Hop["from"] = { node: "from:port 1", row: null };
  for (let step = 0; step < 1 + random.below(6); step++) {
    const table = pipeline.tables[random.below(pipeline.tables.length)];
    if (table === undefined) break;
    const rule = table.rules[random.below(table.rules.length)];
    const to = { node: table.id, row: rule === undefined ? "miss" : ruleKey(rule) };
    hops.push({ from, to, branch: 0, step, copy: false });
    from = to;
  }
  const node = random.below(2) === 0 ? "end:drop" : "nic_rx/7/root";
  hops.push({ from, to: { node, row: null }, branch: 0, step: 9, copy: false });
  return { hops, ends: [], places: [] };
}
