/** Tables for docs/performance.md and README.md, from the reports in bench/results. Times are nanoseconds. */
import { readFileSync } from "node:fs";

/** The reports in bench/results. */
const REPORTS = ["parse", "frames", "esp", "classify", "calls"];
/** A fact of the report on many devices. */
const OF_DEVICES = /^([\d,]+) devices: (.*)$/;

/** Rows of the README: what is measured, its report, workload and case, and the cases beside it under the table's names. */
const README = [
  {
    label: "read the headers of a 64-byte TCP frame",
    from: ["parse", "64-byte TCP, what tuple rules read", "engine, batch of 256"],
    beside: { "plain JavaScript": "JavaScript" },
  },
  {
    label: "a frame from bytes to outcome, 1,000 rules",
    from: ["calls", "a batch of 256, outcomes in memory", "engine, copied in, verdict and tag read"],
    beside: { "plain JavaScript": "JavaScript" },
  },
  {
    label: "look up a key in 10,000 ClassBench rules (acl1)",
    from: ["classify", "acl1 10k", "engine, batch of 256"],
    beside: { "rte_acl, scalar": "DPDK `rte_acl`", "rte_acl, AVX-512 x 32": "with AVX-512" },
  },
  {
    label: "seal 1,400 bytes of ESP, AES-128-GCM",
    from: ["esp", "seal 1,400 bytes", "engine, batch of 32"],
    beside: { "node:crypto": "`node:crypto` (OpenSSL)" },
  },
  {
    label: "insert a rule, `mlx5dv_dr_rule_create`",
    from: ["calls", "insert 100,000", "engine, mlx5dv_dr_rule_create"],
    beside: { "plain JavaScript, a Map a mask": "a JavaScript `Map`" },
  },
];

/**
 * The table of a name:
 * - `readme`: the rows of the README;
 * - `missed`: the goals of all reports that were not reached;
 * - `origin`: where the figures of all reports come from;
 * - `facts REPORT SUITE [PATTERN]`: sizes and shares, those whose names match;
 * - `devices`: time and memory of many devices;
 * - `spread`: goals in several runs (spread.mjs);
 * - `REPORT PATTERN`: the cases of all workloads whose name matches, a column each.
 */
export function figures(name) {
  if (name === "readme") return readme();
  if (name === "missed") return missed();
  if (name === "devices") return devices();
  if (name === "spread") return spread();
  if (name === "origin") return REPORTS.map(origin).join("\n");
  const [first, second, ...rest] = name.split(" ");
  if (first === "facts") return facts(second, rest[0], new RegExp(rest.slice(1).join(" ")));
  return cases(first, new RegExp(`^(?:${[second, ...rest].join(" ")})`));
}

function report(name) {
  return JSON.parse(readFileSync(`bench/results/${name}.json`, "utf8"));
}

/** Where the figures of a report come from, an item of a list. */
function origin(name) {
  const { command, date, machine } = report(name);
  return `- \`${command}\`: ${machine.cpu}, ${machine.threads} threads, Node ${machine.node}, ${date.slice(0, 10)}.`;
}

function readme() {
  const rows = README.map(({ label, from: [name, workload, engine], beside }) => {
    const of = report(name).results.filter((result) => result.workload === workload);
    const timeOf = (wanted) => time(of.find((result) => result.case === wanted).nanoseconds);
    return [
      label,
      timeOf(engine),
      Object.entries(beside)
        .map(([peer, called]) => `${timeOf(peer)} ${called}`)
        .join(", "),
    ];
  });
  return table(["", "flowsteer", "beside it"], ["---", "---:", "---"], rows);
}

/** Cases that missed a goal: time, and ratio to each case beside it. A workload counts as the last report has it. */
function missed() {
  const last = new Map(REPORTS.flatMap((name) => report(name).results.map(({ workload }) => [workload, name])));
  const rows = REPORTS.flatMap((name) =>
    report(name)
      .results.filter(({ workload }) => last.get(workload) === name)
      .flatMap(({ workload, case: one, unit, nanoseconds, against = [] }) =>
        against
          .filter(({ ratio, goal }) => ratio < goal)
          .map(({ peer, ratio, goal }, i) => [
            i === 0 ? `${workload}: ${one.replace(/^engine[,:] /, "")}` : "",
            i === 0 ? `${time(nanoseconds)} a ${unit}` : "",
            peer,
            times(ratio),
            times(goal),
          ]),
      ),
  );
  return table(["", "engine", "beside", "ratio", "goal"], ["---", "---:", "---", "---:", "---:"], rows);
}

/** A row for each workload, a column for each case; workloads with other cases get a table of their own. */
function cases(name, pattern) {
  const { results } = report(name);
  const tables = new Map();
  for (const workload of new Set(results.map((result) => result.workload))) {
    if (!pattern.test(workload)) continue;
    const own = results.filter((result) => result.workload === workload);
    const heads = own.map((result) => result.case);
    const key = JSON.stringify([own[0].unit, heads]);
    const { rows } = tables.get(key) ?? tables.set(key, { rows: [] }).get(key);
    rows.push([workload, ...own.map(({ nanoseconds }) => time(nanoseconds))]);
  }
  if (tables.size === 0) throw new Error(`no workload of bench/results/${name}.json matches ${pattern}`);
  return [...tables]
    .map(([key, { rows }]) => {
      const [unit, heads] = JSON.parse(key);
      return table([`time a ${unit}`, ...heads], ["---", ...heads.map(() => "---:")], rows);
    })
    .join("\n\n");
}

/** A row for each goal: what is aimed at, and what each run gave. */
function spread() {
  const { date, machine, rows, runs } = report("spread");
  const heads = runs.map((_, n) => `run ${n + 1}`);
  const all = rows.map(({ what, command, goal, atMost, unit = "×", values }) => {
    const figure = (value) => `${value.toLocaleString("en")} ${unit}`;
    const isReached = (value) => (atMost ? value <= goal : value >= goal);
    const shown = values.map((value) => (isReached(value) ? `**${figure(value)}**` : figure(value)));
    return [what, `\`${command}\``, `${atMost ? "at most" : "at least"} ${figure(goal)}`, ...shown];
  });
  const align = ["---", "---", "---:", ...heads.map(() => "---:")];
  const origin = `${machine.cpu}, ${machine.threads} threads, Node ${machine.node}, ${date}. Bold: reached.`;
  return `${table(["", "`npm run bench --`", "goal", ...heads], align, all)}\n\n${origin}`;
}

/** A row for each number of devices, a column for each figure. */
function devices() {
  const rows = new Map();
  const heads = new Set();
  for (const [fact, value] of Object.entries(report("devices").facts.devices)) {
    const [, number, what] = OF_DEVICES.exec(fact);
    heads.add(what);
    rows.set(number, [...(rows.get(number) ?? [number]), value.toLocaleString("en")]);
  }
  const all = table(["devices", ...heads], ["---:", ...[...heads].map(() => "---:")], [...rows.values()]);
  return `${all}\n\n${origin("devices")}`;
}

function facts(name, suite, pattern) {
  const all = Object.entries(report(name).facts[suite] ?? {}).filter(([what]) => pattern.test(what));
  return all.map(([what, value]) => `- ${what}: ${value.toLocaleString("en")}`).join("\n");
}

function table(head, align, rows) {
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function times(ratio) {
  return `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} ×`;
}

function time(nanoseconds) {
  if (nanoseconds >= 1e6) return `${(nanoseconds / 1e6).toFixed(0)} ms`;
  return `${nanoseconds < 10 ? nanoseconds.toFixed(1) : Math.round(nanoseconds).toLocaleString("en")} ns`;
}
