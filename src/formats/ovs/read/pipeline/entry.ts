/** Which bridge a frame reaches first, and by which port: rules in front of the tables. */
import { VPORT_UPLINK } from "../../../../abi/engine.js";
import { madeName } from "../../../../drivers/madeRules.js";
import type { Draft } from "../../../reading/draft.js";
import { MatchDraft } from "../../../rules/matchDraft.js";
import { endpointName, type Ports } from "../bridge/ports.js";
import { askTunnel, portOf } from "../tunnels.js";
import type { Asks } from "./asks.js";
import type { Ways } from "./execution.js";
import type { Report } from "./report.js";
import { START, START_OF_TEXT, type Context, type Source } from "./state.js";

/** Priorities: tunnels, ports of the text, all other frames. */
const OF_PORTS = 1;
const OF_OTHERS = 65535;

/** Frames that no rule of its own leads to a bridge. Where bridges are connected, those of the wire have such rules. */
export function hostFrames({ hasPatches, wires }: Ports): Context {
  return hasPatches ? { ...START, notFrom: wires } : START;
}

/** @returns the table that all frames reach */
export function entryOf(ways: Ways, draft: Draft, ports: Ports, report: Report, source: Source, asks: Asks): string {
  const { hasPatches, entries, wires } = ports;
  const tunnels = ports.entered();
  const host = hostFrames(ports);
  const first = (bridge: string | undefined, ctx: Context): string | undefined => {
    const table = source.firsts.get(bridge);
    return table === undefined ? undefined : ways.table(table, undefined, ctx, null);
  };
  const plain = first(undefined, host);
  if (plain !== undefined && tunnels.length === 0 && entries.length === 0 && !hasPatches) return plain;
  const name = draft.freeName("tables", "ports");
  draft.push("tables", { name, domain: "fdb", level: 1 });
  const lead = (rule: string, to: string | undefined, priority: number, match = new MatchDraft()): void => {
    if (to === undefined) return;
    const asked = match.toScenario();
    draft.push("rules", {
      name: report.free(madeName(rule)),
      table: name,
      ...(priority === 0 ? {} : { priority }),
      ...(Object.keys(asked).length === 0 ? {} : { match: asked }),
      actions: [{ table: to }],
    });
  };
  lead(tunnels.length > 0 ? "not by a tunnel" : "from other ports", plain, OF_OTHERS);
  for (const tunnel of tunnels) {
    const match = new MatchDraft();
    match.ask("misc.source_port", VPORT_UPLINK);
    const port = portOf(tunnel, (number) => report.registerVxlan(tunnel, number));
    const refused = typeof port === "string" ? port : askTunnel(match, tunnel, port);
    if (refused !== undefined) {
      report.tell(START_OF_TEXT, tunnel.name, refused);
      continue;
    }
    const from = hasPatches ? wires[0] : undefined;
    const ctx = { ...START, inPort: tunnel.name, wrapped: tunnel, from };
    lead(`by ${tunnel.name}`, first(tunnel.bridge, ctx), 0, match);
  }
  const taken = new Map<string, string>();
  for (const { bridge, endpoint } of entries) {
    const port = endpointName(endpoint);
    const other = taken.get(port);
    if (other === bridge) continue;
    if (other !== undefined) {
      report.tell(
        START_OF_TEXT,
        bridge,
        `${port} is in the bridge ${other} already: --map gives each port one of its own`,
      );
      continue;
    }
    taken.set(port, bridge);
    const match = new MatchDraft();
    asks.port(match, endpoint);
    const ctx = "port" in endpoint ? { ...START, from: port } : { ...START, notFrom: wires };
    lead(`from ${port} to ${bridge}`, first(bridge, ctx), OF_PORTS, match);
  }
  for (const [n, wire] of hasPatches ? wires.entries() : []) {
    if (taken.has(wire)) continue;
    const match = new MatchDraft();
    asks.port(match, { port: n + 1 });
    lead(`from ${wire}`, first(undefined, { ...START, from: wire }), OF_PORTS, match);
  }
  return name;
}
