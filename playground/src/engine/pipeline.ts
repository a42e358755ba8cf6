/** The tables and rules of a loaded scenario, as the picture shows them. */
import type { LoadedScenario } from "flowsteer/scenario";
import type { Pipeline, PipelineTable } from "./api.js";

export function pipelineOf({ device, scenario, tables, queues }: LoadedScenario): Pipeline {
  return {
    tables: [...tables].map(([name, table]): PipelineTable => {
      const { type, context } = table.domain;
      const vport = context.function.vport;
      return {
        id: `${type}/${vport}/${name}`,
        domain: type,
        vport,
        name,
        level: table.level,
        rules: [],
        path: `tables[${(scenario.tables ?? []).findIndex((one) => one.name === name)}]`,
        miss: null,
      };
    }),
    ends: [...queues.keys()].map((name, i) => ({ id: `qp:${name}`, kind: "qp", name, path: `queues[${i}]` })),
    ports: device.ports,
    vports: device.vports,
  };
}
