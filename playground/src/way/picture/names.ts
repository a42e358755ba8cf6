/** How traces and the pipeline name the same objects. */
import type { RuleRef, TableRef, TraceSource } from "flowsteer/explain";
import type { Pipeline, PipelineRule, PipelineTable } from "../../engine/api.js";

/** The id of a table in the pipeline. */
export function tableId({ domain, vport, table }: TableRef): string {
  return `${domain}/${vport}/${table}`;
}

/** The rule of a table that a trace names. Identical flows are one rule, whose name joins theirs. */
export function ruleOf(table: PipelineTable | undefined, ref: RuleRef): PipelineRule | undefined {
  return table?.rules.find(({ name, kind }) => kind === ref.kind && (name === ref.name || isOneOf(name, ref.name)));
}

function isOneOf(name: string, joined: string): boolean {
  return joined.includes(" = ") && joined.split(" = ").includes(name);
}

export function tableOf(pipeline: Pipeline, ref: TableRef): PipelineTable | undefined {
  const id = tableId(ref);
  return pipeline.tables.find((table) => table.id === id);
}

/** The rule that has a path in the document. */
export function ruleAt(pipeline: Pipeline, path: string | null): PipelineRule | undefined {
  if (path === null) return undefined;
  for (const { rules } of pipeline.tables) {
    const found = rules.find((rule) => rule.path === path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The function of a vport: 0 is the PF. */
export function functionText(vport: number): string {
  return vport === 0 ? "PF" : `VF ${vport}`;
}

/** The id of the node that a frame comes from. */
export function sourceId(from: TraceSource): string {
  return from.kind === "wire" ? `from:port ${from.port}` : `from:${from.queue}`;
}
