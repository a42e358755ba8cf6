/** Checks the names that device flows and flow tables use. */
import type { Scenario } from "../document.js";
import { below } from "../schema/path.js";

/** Looks names up and refuses unknown ones. */
export interface NameChecks {
  known(
    kind: "tirs" | "counters" | "flowCounters" | "flowActions" | "flowTables" | "steeringAnchors",
    path: string,
    name: string,
  ): void;
  queuePair(path: string, name: string): void;
  function(path: string, vport: number | undefined): void;
  port(path: string, port: number | undefined): void;
  bad(reason: "bad_scenario" | "unknown_name", path: string, value: unknown, hint: string): void;
}

export function checkDeviceFlows(scenario: Scenario, checks: NameChecks): void {
  for (const kind of ["flowTables", "steeringAnchors", "deviceFlows"] as const) {
    scenario[kind]?.forEach((one, i) => checks.function(below(kind, i), one.function));
  }
  checkTables(scenario, checks);
  checkEntries(scenario, checks);
  checkFlows(scenario, checks);
}

function checkTables({ flowTables = [] }: Scenario, checks: NameChecks): void {
  flowTables.forEach(({ table_miss: miss }, i) => {
    if (miss === undefined) return;
    const path = `${below("flowTables", i)}.table_miss`;
    checks.known("flowTables", path, miss);
    if (flowTables.findIndex(({ name }) => name === miss) < i) return;
    checks.bad("unknown_name", path, miss, "list the table where frames go on before those that miss to it");
  });
}

function checkEntries({ flowEntries = [] }: Scenario, checks: NameChecks): void {
  flowEntries.forEach(({ table, actions }, i) => {
    const path = below("flowEntries", i);
    checks.known("flowTables", `${path}.table`, table);
    actions.forEach((action, n) => {
      if (typeof action === "string") return;
      const here = below(`${path}.actions`, n);
      const { count, tir, table: next, anchor, vport, packet_reformat } = action;
      if (count !== undefined) checks.known("counters", `${here}.count`, count);
      if (tir !== undefined) checks.known("tirs", `${here}.tir`, tir);
      if (next !== undefined) checks.known("flowTables", `${here}.table`, next);
      if (anchor !== undefined) checks.known("steeringAnchors", `${here}.anchor`, anchor);
      const leads = [tir, next, anchor, vport].some((one) => one !== undefined);
      if (packet_reformat === undefined || leads) return;
      checks.bad(
        "bad_scenario",
        `${here}.packet_reformat`,
        undefined,
        "it goes beside a destination; an entry has reformat",
      );
    });
  });
}

function checkFlows({ deviceFlows = [] }: Scenario, checks: NameChecks): void {
  deviceFlows.forEach(({ ft_type = "nic_rx", ib_port, actions = [] }, i) => {
    const path = below("deviceFlows", i);
    const transport = ft_type.startsWith("rdma_transport");
    if (transport && ib_port === undefined)
      checks.bad("bad_scenario", `${path}.ft_type`, ft_type, "it goes with ib_port");
    if (!transport && ib_port !== undefined) {
      checks.bad("bad_scenario", `${path}.ib_port`, ib_port, "it goes with rdma_transport_rx and rdma_transport_tx");
    }
    checks.port(`${path}.ib_port`, ib_port);
    actions.forEach((action, n) => {
      if (typeof action === "string") return;
      const here = below(`${path}.actions`, n);
      const { count, ibv_counter, queue, tir, table, action: named } = action;
      if (count !== undefined) checks.known("counters", `${here}.count`, count);
      if (ibv_counter !== undefined) checks.known("flowCounters", `${here}.ibv_counter`, ibv_counter);
      if (queue !== undefined) checks.queuePair(`${here}.queue`, queue);
      if (tir !== undefined) checks.known("tirs", `${here}.tir`, tir);
      if (table !== undefined) checks.known("flowTables", `${here}.table`, table);
      if (named !== undefined) checks.known("flowActions", `${here}.action`, named);
    });
  });
}
