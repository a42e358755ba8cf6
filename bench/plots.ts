/**
 * A page of plots of a report: one file that loads nothing.
 *
 * Ratios and rates use logarithmic scales, since figures differ up to a hundredfold.
 */
import type { Against, Report, Result } from "./harness.js";

const LABELS = 132;
const WIDTH = 348;
const ROW = 20;
const GAP = 12;
const AXIS = 26;

/** Undefined if the report has nothing to plot. */
export function page(report: Report): string | undefined {
  const sections = [classifySection(report), framesSection(report)].filter((one) => one !== undefined);
  if (sections.length === 0) return undefined;
  const { cpu, node, dpdk } = report.machine;
  const on = [cpu, `Node ${node}`, dpdk === undefined ? "without DPDK" : `DPDK ${dpdk}`, report.date.slice(0, 10)];
  const quick = report.quick ? "<p><strong>A quick run: its figures mean nothing.</strong></p>" : "";
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>How fast</title>
<style>${STYLE}</style></head>
<body>
<p>${escape(on.join(", "))}. Every answer checked; medians of rounds in which all take turns.</p>
${quick}
${sections.join("\n")}
</body>
</html>
`;
}

/** Undefined if the report has no rule sets. */
function classifySection(report: Report): string | undefined {
  const results = report.results.filter(
    ({ suite, workload }) => suite === "classify" && /^(acl|fw|ipc)/.test(workload),
  );
  const looked = bySize(results.filter(({ unit }) => unit === "key"));
  if (looked.length === 0) return undefined;
  const changed = results.filter(({ unit }) => unit !== "key");
  return `<h1>Classification of keys</h1>
<p>ClassBench rule sets, 32,768 headers a trace; one core, CPU time. In a “mix” trace each field of a header is of another rule.</p>
<h2>How many times as fast as the peers</h2>
<p class="legend">Batches of 256. ${legend(["engine", "at the floor or above"], ["low", "below the floor"])}
<span class="key"><i class="goal"></i>goal</span> <span class="key"><i class="floor"></i>floor</span></p>
<div class="grid">${ratioCharts(looked)}</div>
<h2>Lookups</h2>
<p class="legend">Million keys a second. ${legend(["engine", "engine"], ["plain", "plain JavaScript"], ["native", "rte_acl, native code"])}</p>
<div class="grid">${rateCharts(looked)}</div>
${changed.length === 0 ? "" : `<h2>Inserts and deletes</h2>\n<p class="legend">Times as fast as plain JavaScript. <span class="key"><i class="goal"></i>goal</span></p>\n<div class="grid">${changeCharts(changed)}</div>`}
<h2>Other figures</h2>
${factTables(Object.entries(report.facts["classify"] ?? {}))}`;
}

/** Undefined if the report has no frames. */
function framesSection(report: Report): string | undefined {
  const results = report.results.filter(({ suite }) => suite === "frames");
  if (results.length === 0) return undefined;
  const named = results.map((result) => ({ ...result, case: label(result.case) }));
  return `<h1>Whole frames</h1>
<p>From bytes to outcome through bursts of a device; one core and CPU time, but where wall time is said.</p>
<h2>How many times as fast as the peers</h2>
<p class="legend">${legend(["engine", "engine"])} <span class="key"><i class="goal"></i>goal</span></p>
<div class="grid">${goalCharts(named)}</div>
<h2>Frames</h2>
<p class="legend">Million frames a second. ${legend(["engine", "engine"], ["plain", "plain JavaScript"], ["native", "rte_acl, native code, keys ready"])}</p>
<div class="grid">${rateCharts(named.filter(({ unit }) => unit === "frame"))}</div>
<h2>Other figures</h2>
${factTables(Object.entries(report.facts["frames"] ?? {}))}`;
}

/** What there is room for. */
function label(name: string): string {
  return name.replace(/^engine, |device\./g, "").replace(/, (keys ready|typed arrays)$| -r in .*/, "");
}

/** A chart for each peer of a workload with a goal. */
function goalCharts(results: readonly Result[]): string {
  const workloads = [...new Set(results.map(({ workload }) => workload))];
  return workloads
    .flatMap((workload) => {
      const cases = results.filter((result) => result.workload === workload);
      const all = cases.flatMap(({ case: name, against = [] }) => against.map((one) => ({ name, one })));
      const peers = new Set(all.filter(({ one }) => one.goal !== undefined).map(({ one }) => one.peer));
      return [...peers].map((peer) => {
        const bars = all.filter(({ one }) => one.peer === peer).map(({ name, one }) => ratioBar(name, one));
        return chart(`${workload}: against ${peer}`, bars, "×");
      });
    })
    .join("");
}

/** What follows the name of the set, in the order of a table's growth; sets in the order they have. */
function bySize(results: readonly Result[]): Result[] {
  const place = ({ workload }: Result): number => SIZES.indexOf(sizeOf(workload));
  return [...results].sort((a, b) => place(a) - place(b));
}

const SIZES = ["1k", "10k", "10k mix", "100k"];

function sizeOf(workload: string): string {
  return workload.slice(workload.indexOf(" ") + 1);
}

/** A row for each rule set, a column for each figure; then what is of no set. */
function factTables(facts: readonly [name: string, value: number][]): string {
  const split = facts.map(([name, value]) => ({ set: /^(?:acl|fw|ipc)\S+ \S+(?=, )/.exec(name)?.[0], name, value }));
  const ofSets = split.filter(({ set }) => set !== undefined);
  const columns = [...new Set(ofSets.map(({ set, name }) => name.slice(set!.length + 2)))];
  const rows = [...new Set(ofSets.map(({ set }) => set!))].map((set) => {
    const cells = columns.map((column) => ofSets.find(({ name }) => name === `${set}, ${column}`)?.value);
    return `<tr><td>${set}</td>${cells.map(number).join("")}</tr>`;
  });
  const head = `<tr><th></th>${columns.map((column) => `<th>${escape(column)}</th>`).join("")}</tr>`;
  const rest = split.filter(({ set }) => set === undefined);
  const others = rest.map(({ name, value }) => `<tr><td>${escape(name)}</td>${number(value)}</tr>`).join("");
  return `${rows.length === 0 ? "" : `<table>${head}${rows.join("")}</table>`}${others === "" ? "" : `<table>${others}</table>`}`;
}

function number(value: number | undefined): string {
  return `<td class="number">${value?.toLocaleString("en") ?? ""}</td>`;
}

interface Bar {
  label: string;
  value: number;
  text: string;
  style: string;
  title: string;
  goal?: number | undefined;
  floor?: number | undefined;
}

/** A chart for each peer that a batch of 256 is compared with, a bar for each workload. */
function ratioCharts(results: readonly Result[]): string {
  const rows = results.filter(({ case: name }) => name === "engine, batch of 256");
  const peers = [...new Set(rows.flatMap(({ against }) => (against ?? []).map(({ peer }) => peer)))];
  return peers.map((peer) => chart(`against ${peer}`, ratioBars(rows, peer), "×")).join("");
}

function changeCharts(results: readonly Result[]): string {
  const kinds = [...new Set(results.map(({ workload }) => workload.split(", ")[1]!))];
  return kinds
    .map((kind) => {
      const rows = results.filter(({ workload, against }) => workload.endsWith(`, ${kind}`) && against !== undefined);
      return chart(kind, ratioBars(rows, rows[0]?.against?.[0]?.peer ?? ""), "×");
    })
    .join("");
}

function ratioBars(rows: readonly Result[], peer: string): Bar[] {
  return rows.flatMap(({ workload, against }) => {
    const one = against?.find((other) => other.peer === peer);
    return one === undefined ? [] : [ratioBar(workload.split(", ")[0]!, one)];
  });
}

function ratioBar(label: string, { ratio, rounds, goal, floor }: Against): Bar {
  const wanted = [goal === undefined ? "" : `, goal ${goal}`, floor === undefined ? "" : `, floor ${floor}`];
  const title = `${short(ratio)} times, rounds ${short(Math.min(...rounds))} to ${short(Math.max(...rounds))}${wanted.join("")}`;
  const style = ratio < (floor ?? 0) ? "low" : "engine";
  return { label, value: ratio, text: `${short(ratio)} ×`, style, title, goal, floor };
}

/** A chart for each workload, a bar for each case, million units a second. All have one scale. */
function rateCharts(results: readonly Result[]): string {
  const scale = scaleOf(results.map(({ nanoseconds }) => 1000 / nanoseconds));
  return [...new Set(results.map(({ workload }) => workload))]
    .map((workload) => {
      const bars = results
        .filter((result) => result.workload === workload)
        .map(({ case: name, unit, nanoseconds }) => {
          const style = name.startsWith("rte_acl") ? "native" : name.startsWith("plain") ? "plain" : "engine";
          return {
            label: name.replace(/, a Map.*/, ""),
            value: 1000 / nanoseconds,
            text: short(1000 / nanoseconds),
            style,
            title: `${nanoseconds} ns a ${unit}`,
          };
        });
      return chart(workload, bars, "", scale);
    })
    .join("");
}

interface Scale {
  low: number;
  high: number;
}

/** Whole steps of 1, 2, 5, 10 ... around all values. */
function scaleOf(values: readonly number[]): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return { low: STEPS.filter((step) => step < least).at(-1), high: STEPS.find((step) => step >= most)! };
}

const STEPS = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((step) => Number(`${step}e${i - 5}`))).flat();

function chart(title: string, bars: readonly Bar[], unit: string, given?: Scale): string {
  const values = bars.flatMap(({ value, goal, floor }) => [value, goal ?? value, floor ?? value]);
  const scale = given ?? scaleOf([...values, 1]);
  const steps = STEPS.filter((step) => step >= scale.low && step <= scale.high);
  // As many labels as there is room for.
  const named = steps.length > 8 ? steps.filter((step) => /^1/.test(String(step).replace(/^0\.0*/, ""))) : steps;
  const x = (value: number): number => {
    const part = Math.log(value / scale.low) / Math.log(scale.high / scale.low);
    return LABELS + Math.round(part * (WIDTH - 48) * 10) / 10;
  };
  let y = 4;
  let family = sizeOf(bars[0]?.label ?? "");
  const drawn = bars.map((bar) => {
    // Sizes stand apart where the bars are workloads.
    const mine = sizeOf(bar.label);
    if (given === undefined && mine !== family) y += GAP;
    family = mine;
    const svg = drawBar(bar, y, x);
    y += ROW;
    return svg;
  });
  const bottom = y + 4;
  const grid = steps.map((step) => {
    const strong = step === 1 && unit === "×" ? ` class="one"` : "";
    const text = named.includes(step)
      ? `<text x="${x(step)}" y="${bottom + 14}" class="axis">${step}${unit}</text>`
      : "";
    return `<line x1="${x(step)}" x2="${x(step)}" y1="0" y2="${bottom}"${strong}/>${text}`;
  });
  const size = `viewBox="0 0 ${LABELS + WIDTH} ${bottom + AXIS}"`;
  return `<figure><figcaption>${escape(title)}</figcaption>
<svg ${size} role="img" aria-label="${escape(title)}">${grid.join("")}${drawn.join("")}</svg></figure>`;
}

function drawBar(
  { label, value, text, style, title, goal, floor }: Bar,
  y: number,
  x: (value: number) => number,
): string {
  const [from, to] = [LABELS, x(value)];
  const mark = (at: number | undefined, name: string): string =>
    at === undefined ? "" : `<line class="${name}" x1="${x(at)}" x2="${x(at)}" y1="${y}" y2="${y + ROW - 2}"/>`;
  const labelled = `<text x="${LABELS - 8}" y="${y + 13}" class="label">${escape(label)}</text>`;
  const bar = `<rect class="${style}" x="${from}" y="${y + 3}" width="${Math.max(to - from, 1).toFixed(1)}" height="${ROW - 8}" rx="2"/>`;
  const end = Math.max(to, x(goal ?? value), x(floor ?? value));
  const shown = `<text x="${end + 6}" y="${y + 13}" class="value">${escape(text)}</text>`;
  return `<g><title>${escape(`${label}: ${title}`)}</title>${labelled}${bar}${mark(floor, "floor")}${mark(goal, "goal")}${shown}</g>`;
}

function legend(...entries: [style: string, text: string][]): string {
  return entries.map(([style, text]) => `<span class="key"><i class="${style}"></i>${text}</span>`).join(" ");
}

/** Three significant digits. */
function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const STYLE = `
:root { color-scheme: light dark; --page: #fcfcfb; --ink: #1f2328; --soft: #5f6670; --grid: #e3e5e8; --one: #9aa1ab;
  --engine: #2a6fdb; --plain: #c98500; --native: #7a5cc0; --low: #c93a3a; --mark: #1f2328; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --ink: #e6e8eb; --soft: #a0a7b1; --grid: #2b2f36;
  --one: #69707b; --engine: #5b9bf5; --plain: #d9a036; --native: #a98be8; --low: #ee6a63; --mark: #f4f5f7; } }
body { margin: 2rem auto; max-width: 1180px; padding: 0 1.25rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin-bottom: 0.25rem; } h2 { font-size: 1.15rem; margin: 2.25rem 0 0.25rem; }
p { max-width: 46rem; color: var(--soft); margin: 0.25rem 0 0.75rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 1.25rem 2rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: 0.35rem; }
svg { width: 100%; height: auto; display: block; overflow: visible; font: 12px system-ui, sans-serif; }
svg line { stroke: var(--grid); } svg line.one { stroke: var(--one); }
svg line.goal { stroke: var(--mark); stroke-width: 2; } svg line.floor { stroke: var(--mark); stroke-dasharray: 2 2; }
text { fill: var(--ink); } text.label { text-anchor: end; } text.axis { text-anchor: middle; fill: var(--soft); font-size: 11px; }
text.value { font-variant-numeric: tabular-nums; paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.engine { fill: var(--engine); background: var(--engine); } .plain { fill: var(--plain); background: var(--plain); }
.native { fill: var(--native); background: var(--native); } .low { fill: var(--low); background: var(--low); }
.key { white-space: nowrap; margin-right: 0.9em; }
.key i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 0.4em; vertical-align: -1px; }
.key i.goal { width: 0; border-radius: 0; border-left: 2px solid var(--mark); }
.key i.floor { width: 0; border-radius: 0; border-left: 1px dashed var(--mark); }
table { border-collapse: collapse; margin: 0.75rem 0 1.5rem; } th { text-align: right; font-weight: 600; padding: 0.2rem 0 0.2rem 1.5rem; }
th, td { vertical-align: bottom; } td { padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid var(--grid); }
td.number { text-align: right; padding: 0.2rem 0 0.2rem 1.5rem; font-variant-numeric: tabular-nums; }
`;
