/**
 * Metrics as text for Prometheus: text exposition format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 */
import { inCall } from "../../errors.js";
import { wrongType } from "../../base/checks.js";
import type { Hits } from "../base/hitCounts.js";
import type { DeviceMetrics } from "./metrics.js";

type Labels = Readonly<Record<string, string | number>>;
type Row = readonly [labels: Labels, value: bigint | number];

/** The Content-Type of the text. */
export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Writes the metrics of devices in the text format of Prometheus. Each metric begins with
 * `flowsteer_` and has the label `device`.
 * @param metrics those of one device, or of several with different names
 * @throws TypeError not what `device.metrics()` returns
 * @example
 *     response.setHeader("Content-Type", PROMETHEUS_CONTENT_TYPE);
 *     response.end(prometheusText(device.metrics()));
 */
export function prometheusText(metrics: DeviceMetrics | readonly DeviceMetrics[]): string {
  return inCall("prometheusText", () => {
    const all = Array.isArray(metrics) ? (metrics as readonly DeviceMetrics[]) : [metrics as DeviceMetrics];
    for (const one of all as readonly unknown[]) {
      if (typeof one !== "object" || one === null || !("reasons" in one))
        wrongType("metrics", "what device.metrics() returns", one);
    }
    const families = new Families();
    for (const one of all) write(families, one);
    return families.text;
  });
}

type Add = (name: string, type: "counter" | "gauge", help: string, rows: readonly Row[]) => void;

function writeCables(add: Add, cables: DeviceMetrics["cables"]): void {
  for (const [key, help] of Object.entries(CABLE_HELP) as [keyof typeof CABLE_HELP, string][]) {
    const rows = cables.map((cable) => [{ port: cable.port }, cable[key]] as const);
    add(`cable_${key}_frames_total`, "counter", help, rows);
  }
  const underWay = cables.map((cable) => [{ port: cable.port }, cable.underWay] as const);
  add("cable_frames", "gauge", "Frames under way in a cable.", underWay);
}

const CABLE_HELP = {
  sent: "Frames that left by a cable.",
  arrived: "Frames that arrived at the far end of a cable, copies included.",
  lost: "Frames that a cable lost by chance.",
  overflowed: "Frames that found the queue of a cable full.",
  removed: "Frames under way in a cable when it was removed.",
  duplicated: "Frames that a cable carried twice.",
  reordered: "Frames that a cable held back.",
  marked: "Frames that the queue of a cable marked CE.",
} as const;

function write(families: Families, { device, time, reasons, cache, memory, rules, cables, hits }: DeviceMetrics): void {
  const add: Add = (name, type, help, rows) => {
    families.add(
      `flowsteer_${name}`,
      type,
      help,
      rows.map(([labels, value]) => [{ device, ...labels }, value]),
    );
  };
  add("clock_seconds", "gauge", "The clock of the device.", [[{}, Number(time) / 1e9]]);
  add(
    ...(["reason_frames_total", "counter", "Frames and copies that ended for a reason."] as const),
    Object.entries(reasons).map(([reason, count]) => [{ reason }, count] as const),
  );
  add("cache_hits_total", "counter", "Frames with an entry of the flow cache.", [[{}, cache.hits]]);
  add("cache_misses_total", "counter", "Frames without an entry of the flow cache.", [[{}, cache.misses]]);
  add("cache_paused", "gauge", "1 while frames skip the flow cache.", [[{}, cache.paused ? 1 : 0]]);
  add("memory_used_bytes", "gauge", "Bytes of tables, rules, counters and queues.", [[{}, memory.used]]);
  add("memory_core_bytes", "gauge", "Bytes of the linear memory of the core.", [[{}, memory.core]]);
  add("rules", "gauge", "Rules in the device.", [[{}, rules]]);
  if (cables.length > 0) writeCables(add, cables);
  if (hits === null) return;
  const counted = (name: string, what: string, rows: readonly (readonly [Labels, Hits])[]): void => {
    add(
      `${name}_packets_total`,
      "counter",
      `Packets ${what}.`,
      rows.map(([labels, { packets }]) => [labels, packets]),
    );
    add(
      `${name}_bytes_total`,
      "counter",
      `Bytes ${what}.`,
      rows.map(([labels, { bytes }]) => [labels, bytes]),
    );
  };
  for (const way of ["received", "transmitted", "dropped"] as const) {
    const what = way === "dropped" ? "of received frames that were dropped" : `${way} by a port`;
    counted(
      `port_${way}`,
      what,
      hits.ports.map((port) => [{ port: port.port }, port[way]] as const),
    );
  }
  counted(
    "queue",
    "that a queue took",
    hits.queues.map((one) => [{ queue: one.queue }, one] as const),
  );
  counted(
    "rule",
    "that hit a rule",
    hits.rules.map((one) => [{ rule: one.rule, id: one.id, table: one.table ?? "" }, one] as const),
  );
  const places = hits.tables.map((one) => [{ table: one.table, domain: one.domain, vport: one.vport }, one] as const);
  counted("table", "that hit the rules of a table", places);
  add(
    "table_rules",
    "gauge",
    "Rules of a table.",
    places.map(([labels, one]) => [labels, one.rules]),
  );
}

/** Metric families: the lines of one metric stand together, whichever device they are of. */
class Families {
  private readonly _families = new Map<string, { readonly head: string; readonly lines: string[] }>();

  add(name: string, type: string, help: string, rows: readonly Row[]): void {
    let family = this._families.get(name);
    if (family === undefined)
      this._families.set(name, (family = { head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`, lines: [] }));
    for (const [labels, value] of rows) family.lines.push(`${name}${labelText(labels)} ${value}\n`);
  }

  get text(): string {
    return Array.from(this._families.values(), ({ head, lines }) => head + lines.join("")).join("");
  }
}

function labelText(labels: Labels): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(",")}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (one) => (one === "\n" ? "\\n" : `\\${one}`));
}
