/** Plots of whole frames: the figures with goals, and frames per second. */
import type { Report, Result } from "./harness.js";
import { chart, factTables, legend, rateCharts, ratioBar } from "./plots.js";

/** Undefined if the report has no frames. */
export function framesSection(report: Report): string | undefined {
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
