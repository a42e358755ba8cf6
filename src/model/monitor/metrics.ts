/** `device.metrics()`: what a device counts and holds, as plain data (docs/metrics.md). */
import type { DeviceBase } from "../base/deviceBase.js";
import { NO_HITS, sumOf, tableOf, type Hits } from "../base/hitCounts.js";
import type { CableCounters } from "../base/port/ports.js";
import type { DomainType } from "../base/domainType.js";
import type { FlowCache } from "../traffic/flowCache.js";
import type { ReasonName } from "../traffic/outcome.js";

export interface PortMetrics {
  readonly port: number;
  readonly received: Hits;
  readonly transmitted: Hits;
  /** Received frames whose verdict is `drop` or `miss`. */
  readonly dropped: Hits;
}

export interface QueueMetrics extends Hits {
  /** As in outcomes: `qp:web`. */
  readonly queue: string;
}

export interface RuleMetrics extends Hits {
  /** The name of the rule, or those of the flows that are one rule. */
  readonly rule: string;
  /** Its number in the columns of a burst. */
  readonly id: number;
  /** The name of its table; "root" for root tables and what takes part in them; null for none. */
  readonly table: string | null;
}

export interface TableMetrics extends Hits {
  readonly table: string;
  readonly domain: DomainType;
  /** The function: 0 the PF, VFs from 1. */
  readonly vport: number;
  readonly rules: number;
}

/** What hits have counted. */
export interface HitMetrics {
  readonly ports: readonly PortMetrics[];
  readonly queues: readonly QueueMetrics[];
  readonly rules: readonly RuleMetrics[];
  readonly tables: readonly TableMetrics[];
}

/** A port with a cable whose frames take time. */
export interface CableMetrics extends CableCounters {
  readonly port: number;
}

export interface DeviceMetrics {
  readonly device: string;
  /** The clock of the device in nanoseconds. */
  readonly time: bigint;
  /** Frames, and copies that did not arrive, by reason. */
  readonly reasons: Readonly<Record<ReasonName, bigint>>;
  readonly cache: {
    /** The largest number of entries. */
    readonly entries: number;
    readonly hits: bigint;
    readonly misses: bigint;
    readonly paused: boolean;
  };
  readonly memory: {
    /** Bytes of tables, rules, counters and queues. */
    readonly used: number;
    /** Bytes of the core's linear memory. */
    readonly core: number;
  };
  /** The number of rules in the device. */
  readonly rules: number;
  /** What left by cables that take time (`device.connect` with options). */
  readonly cables: readonly CableMetrics[];
  /** Null while hits are not counted (`device.countHits`). */
  readonly hits: HitMetrics | null;
}

/** A device, as far as its metrics need it. */
interface Measured extends DeviceBase {
  readonly cache: FlowCache;
  reasons(): Record<ReasonName, bigint>;
  cableCounters(port: number): CableCounters | null;
}

export function metricsOf(device: Measured): DeviceMetrics {
  const { name, cache, memoryUsed, core } = device;
  const { entries, hits, misses, paused } = cache;
  return {
    device: name,
    time: device.now(),
    reasons: device.reasons(),
    cache: { entries, hits, misses, paused },
    memory: { used: memoryUsed, core: core.exports.memory.buffer.byteLength },
    rules: [...device.installed].length,
    cables: device.hardware.ports.flatMap(({ number }) => {
      const counters = device.cableCounters(number);
      return counters === null ? [] : [{ port: number, ...counters }];
    }),
    hits: hitsOf(device),
  };
}

function hitsOf(device: Measured): HitMetrics | null {
  const { hitCounts, hardware, queues, tables, installed } = device;
  if (hitCounts === null) return null;
  const rules: RuleMetrics[] = [];
  const byTable = new Map<number, Hits[]>();
  for (const rule of installed) {
    const hits = hitCounts.of(rule);
    const at = tableOf(rule);
    const inTable = byTable.get(at);
    if (inTable === undefined) byTable.set(at, [hits]);
    else inTable.push(hits);
    const place = tables.get(at);
    const table = place === undefined ? null : (place.object?.name ?? "root");
    rules.push({ rule: nameOf(rule), id: rule.id, table, ...hits });
  }
  return {
    ports: hardware.ports.map(({ number }) => ({ port: number, ...hitCounts.port(number) })),
    queues: Array.from(queues, ([handle, { label }]) => ({ queue: label, ...hitCounts.queue(handle) })),
    rules,
    tables: Array.from(tables, ([address, { domain, vport, object, stage }]) => {
      const own = byTable.get(address) ?? [];
      const hits = own.length === 0 ? NO_HITS : sumOf(own);
      const table = object?.name ?? (stage === null || stage === "root" ? "root" : `root (${stage})`);
      return { table, domain, vport, rules: own.length, ...sumOf([hits, hitCounts.ofRemoved(address)]) };
    }),
  };
}

/** An entry has the names of its flows. */
function nameOf(rule: object): string {
  if ("name" in rule && typeof rule.name === "string") return rule.name;
  const { flows = [] } = rule as { flows?: readonly { readonly name: string }[] };
  return flows.map(({ name }) => name).join(", ");
}
