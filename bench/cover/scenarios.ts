/** Scenarios for proofs: a rule set in one table, and a pipeline of four tables. */
import type { Scenario, ScenarioRule } from "../../src/scenario/index.js";
import { any, exact } from "../classify/coreRules.js";
import type { SetRule } from "../classify/ruleSets.js";

const UDP = 17;
const TCP = 6;
const QUEUES = [{ name: "all" }];
const DELIVER = [{ queue: "all" }];

/** The rules of a set in one table, in their order: `rule 0` is line 0. */
export function setScenario(rules: readonly SetRule[]): Scenario {
  return {
    flowsteer: 1,
    queues: QUEUES,
    tables: [{ name: "set", level: 0 }],
    rules: rules.map((rule, i) => ({ name: `rule ${i}`, table: "set", match: matchOf(rule), actions: DELIVER })),
  };
}

function matchOf({
  src,
  srcMask,
  dst,
  dstMask,
  sport,
  dport,
  protocol,
  protocolMask,
}: SetRule): NonNullable<ScenarioRule["match"]> {
  const l4 = protocol === TCP ? "tcp" : protocol === UDP ? "udp" : null;
  if (l4 === null && !(any(sport) && any(dport))) throw new Error(`bench: ports without TCP or UDP: ${protocol}`);
  return {
    "outer.ip_version": 4,
    ...network("outer.ipv4_src", src, srcMask),
    ...network("outer.ipv4_dst", dst, dstMask),
    ...(protocolMask === 0 ? {} : { "outer.ip_protocol": protocol }),
    ...(l4 === null ? {} : { ...ports(`outer.${l4}_sport`, sport), ...ports(`outer.${l4}_dport`, dport) }),
  };
}

function network(field: string, address: number, mask: number): Record<string, string> {
  if (mask === 0) return {};
  const bytes = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff);
  return { [field]: `${bytes.join(".")}/${32 - Math.log2((~mask >>> 0) + 1)}` };
}

function ports(field: string, range: SetRule["sport"]): Record<string, string> {
  if (any(range)) return {};
  return { [field]: exact(range) ? String(range[0]) : `${range[0]}-${range[1]}` };
}

/**
 * Four tables of `size` rules each: networks choose a tenant, ports of the tenant are let through, get another address,
 * and the address chooses the queue. In each table every tenth rule is hidden by the one before it.
 */
export function pipelineScenario(size: number): Scenario {
  const all = Array.from({ length: size }, (_, i) => i);
  /** A hidden rule asks for what the one before it takes. */
  const shown = (i: number): number => (i % 10 === 9 ? i - 1 : i);
  const rules = (table: string, rule: (i: number) => Pick<ScenarioRule, "match" | "actions">): ScenarioRule[] =>
    all.map((i) => ({ name: `${table} ${i}`, table, ...rule(shown(i)) }));
  const port = (i: number): string => `${1000 + 16 * (i % 100)}-${1015 + 16 * (i % 100)}`;
  return {
    flowsteer: 1,
    queues: QUEUES,
    tables: ["tenants", "ports", "addresses", "routes"].map((name, level) => ({ name, level })),
    rules: [
      ...rules("tenants", (i) => ({
        match: { "outer.ipv4_dst": `10.${i >> 8}.${i & 255}.0/24` },
        actions: [{ modify: [{ set: "misc2.metadata_reg_c_0", to: i }] }, { table: "ports" }],
      })),
      ...rules("ports", (i) => ({
        match: { "misc2.metadata_reg_c_0": i, "outer.tcp_dport": port(i) },
        actions: [{ table: "addresses" }],
      })),
      ...rules("addresses", (i) => ({
        match: { "misc2.metadata_reg_c_0": i, "outer.ip_protocol": TCP },
        actions: [{ modify: [{ set: "outer.ipv4_dst", to: `172.16.${i >> 8}.${i & 255}` }] }, { table: "routes" }],
      })),
      ...rules("routes", (i) => ({
        match: { "outer.ipv4_dst": `172.16.${i >> 8}.${i & 255}` },
        actions: DELIVER,
      })),
    ],
  };
}
