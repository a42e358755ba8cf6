/** The part of the report that tells of flows, host rules and what flows count. */
import {
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
} from "../abi/verbs.js";
import type { LoadedScenario } from "../scenario/index.js";
import type { DeviceFlow } from "../model/flow/deviceFlow.js";
import type { VerbsFlow } from "../model/flow/verbsFlow.js";
import { HOST_APPLICATIONS } from "../model/flow/hostRules.js";
import type { HitRule } from "../model/traffic/outcome.js";
import { grouped, printable, table, type Column, type Paint, type Row } from "./text.js";

/** A flow or a host rule, and where frames come to it. */
interface Asked {
  readonly rule: HitRule;
  /** 0 for the PF. */
  readonly vport: number;
  readonly kind: string;
  readonly port: number | undefined;
  /** Null where nobody looks at it. */
  readonly priority: number | null;
  readonly place: readonly number[];
}

/** Packets of messages are not among the frames that are counted here. */
export function never({ messages }: LoadedScenario): string {
  return messages.length === 0 ? "never hit" : "by no frame";
}

/** Flows and host rules, function by function in the order in which they are asked; what is equal there, in that of the document. */
export function flows(paint: Paint, loaded: LoadedScenario): string {
  const hosts = loaded.scenario.hostRules ?? [];
  const all = [
    ...[...loaded.flows.values()].map(asFlow),
    ...[...loaded.deviceFlows.values()].map(asDeviceFlow),
    ...[...loaded.hostRules.values()].map((rule, i): Asked => {
      const { application, priority } = rule;
      const { port, function: vport = 0 } = hosts[i] ?? {};
      const place = [vport, HOST, HOST_APPLICATIONS.indexOf(application), priority];
      return { rule, vport, kind: application, port, priority, place };
    }),
  ].sort((a, b) => compare(a.place, b.place));
  const functions = all.some(({ vport }) => vport !== 0);
  if (all.length === 0) return "";
  const rows = all.map(({ rule, vport, kind, port, priority }): Row => {
    const { frames, bytes } = loaded.tally.rule(rule);
    const cells = [
      printable(rule.name),
      ...(functions ? [vport === 0 ? "pf" : `vf${vport}`] : []),
      kind,
      port === undefined ? "" : String(port),
      priority === null ? "" : String(priority),
      grouped(frames),
      grouped(bytes),
      frames === 0 ? never(loaded) : "",
    ];
    return frames === 0 ? { cells, style: "dim" } : { cells };
  });
  const columns: Column[] = [
    { title: "Flow" },
    ...(functions ? [{ title: "function" }] : []),
    { title: "kind" },
    { title: "port", right: true },
    { title: "priority", right: true },
    { title: "frames", right: true },
    { title: "bytes", right: true },
    { title: "" },
  ];
  return table(paint, columns, rows);
}

/** The stages of docs/flows.md, those of what is sent and of the eSwitch behind the others. */
const [SNIFFER, RDMA, NORMAL, HOST, DEFAULT, EGRESS, FDB] = [0, 1, 2, 3, 4, 5, 6] as const;

function asDeviceFlow(rule: DeviceFlow): Asked {
  const { priority, port, tableType } = rule.matcher;
  const { name, domainType, rdma } = tableType;
  const stage = domainType === "fdb" ? FDB : domainType === "nic_tx" ? EGRESS : rdma ? RDMA : NORMAL;
  const { vport } = rule.context.function;
  // Tables of transports are asked before the others where frames come in, behind them where they leave.
  const within = stage === RDMA ? (tableType.transport ? 0 : 1) : rdma ? (tableType.transport ? -1 : -2) : 0;
  const kind = name.toLowerCase();
  const place = [vport, stage, within, priority, 1];
  return { rule, vport, kind, port: port === 0 ? undefined : port, priority, place };
}

function asFlow(rule: VerbsFlow): Asked {
  const { type, flags, port, priority } = rule;
  const egress = (flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0;
  const copies = (flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0;
  const { vport } = rule.context.function;
  const none = { rule, vport, port, priority: null };
  if (type === IBV_FLOW_ATTR_SNIFFER) return { ...none, kind: "sniffer", place: [vport, SNIFFER] };
  if (type !== IBV_FLOW_ATTR_NORMAL) return { ...none, kind: "default", place: [vport, DEFAULT] };
  const kind = `${egress ? "egress" : "normal"}${copies ? ", dont_trap" : ""}`;
  return { rule, vport, kind, port, priority, place: [vport, egress ? EGRESS : NORMAL, 0, priority, copies ? 0 : 1] };
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((one, i) => one !== b[i]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Entries of flow tables, table by table in the order of their indexes. */
export function flowEntries(paint: Paint, loaded: LoadedScenario): string {
  const { flowEntries: all, tally } = loaded;
  const tables = [...new Set([...all.values()].map(({ table }) => table))];
  const entries = [...all.values()].sort(
    (a, b) => tables.indexOf(a.table) - tables.indexOf(b.table) || a.index - b.index,
  );
  let before: (typeof tables)[number] | undefined;
  const rows = entries.map((entry): Row => {
    const { frames, bytes } = tally.rule(entry);
    const place = entry.table === before ? "" : printable(entry.table.name);
    before = entry.table;
    const hit = frames === 0 ? never(loaded) : "";
    const cells = [place, String(entry.index), printable(entry.name), grouped(frames), grouped(bytes), hit];
    return frames === 0 ? { cells, style: "dim" } : { cells };
  });
  if (rows.length === 0) return "";
  const columns: Column[] = [
    { title: "Flow table" },
    { title: "index", right: true },
    { title: "entry" },
    { title: "frames", right: true },
    { title: "bytes", right: true },
    { title: "" },
  ];
  return table(paint, columns, rows);
}

export function flowCounters(paint: Paint, { flowCounters: all }: LoadedScenario): string {
  const rows = [...all.values()].flatMap(({ name, points, counters }): Row[] => {
    const { packets, bytes } = counters.read();
    return points.map(({ index, counts }, i) => {
      const cells = [
        i === 0 ? printable(name) : "",
        String(index),
        grouped(counts === "bytes" ? bytes : packets),
        counts,
      ];
      return { cells };
    });
  });
  if (rows.length === 0) return "";
  const columns: Column[] = [
    { title: "Flow counter" },
    { title: "index", right: true },
    { title: "value", right: true },
    { title: "" },
  ];
  return table(paint, columns, rows);
}
