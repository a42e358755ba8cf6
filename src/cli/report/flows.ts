/** The part of the report about flows, host rules and flow counters. */
import { flowsInOrder, type LoadedScenario } from "../../scenario/index.js";
import { grouped, printable, table, type Column, type Paint, type Row } from "../text.js";

/** The remark about a rule without frames. Packets of messages can have hit it: the report does not count them. */
export function neverHit({ messages }: LoadedScenario): string {
  return messages.length === 0 ? "never hit" : "not by a frame";
}

/** Flows and host rules, in the order in which they are matched. */
export function flows(paint: Paint, loaded: LoadedScenario): string {
  const all = flowsInOrder(loaded);
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
      frames === 0 ? neverHit(loaded) : "",
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

/** Entries of flow tables, table by table, in the order of their indexes. */
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
    const hit = frames === 0 ? neverHit(loaded) : "";
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
