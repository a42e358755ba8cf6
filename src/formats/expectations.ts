/** Expectations of a scenario, held against what came out. */
import type { CounterValue } from "../model/counter.js";
import type { HitRule, Outcome } from "../model/outcome.js";
import type { ExpectedFrame, ExpectedOutcome, ScenarioExpectations } from "./document.js";
import { outcomeRecord, type OutcomePart } from "./outcomeRecord.js";
import { below } from "./schema.js";
import type { Tally } from "./tally.js";

/** An expectation that was not met. */
export interface Failure {
  /** Its place in the document, such as `expect.frames[2].verdict`. */
  path: string;
  /** What it is about, in words: `frame 3 "syn to web"`, `counter web-frames`. */
  about: string;
  /** Which property of that: `verdict`, `packets`. */
  what: string;
  expected: unknown;
  got: unknown;
}

const COMPARED = ["verdict", "reason", "to", "toTags", "tag", "rules", "copies", "copyTags"] as const;

/** What sums are taken from: a loaded scenario. */
export interface Counted {
  readonly tally: Tally;
  readonly counters: ReadonlyMap<string, { read(): CounterValue }>;
  readonly flowCounters: ReadonlyMap<string, { values(): bigint[] }>;
  readonly rules: ReadonlyMap<string, HitRule>;
  readonly flows: ReadonlyMap<string, HitRule>;
  readonly hostRules: ReadonlyMap<string, HitRule>;
}

/** What the document expects frame by frame; sees every frame as it comes. */
export class Expectations {
  readonly #expect: ScenarioExpectations;
  readonly #byFrame = new Map<number | string, { expected: ExpectedFrame; path: string }[]>();
  readonly #waiting = new Set<string>();
  readonly #failures: Failure[] = [];

  constructor(expect: ScenarioExpectations) {
    this.#expect = expect;
    for (const [i, expected] of (expect.frames ?? []).entries()) {
      const path = below("expect.frames", i);
      const all = this.#byFrame.get(expected.frame) ?? [];
      all.push({ expected, path });
      this.#byFrame.set(expected.frame, all);
      this.#waiting.add(path);
    }
  }

  /** A frame has come out. */
  see(number: number, name: string | undefined, outcome: Outcome): void {
    if (this.#byFrame.size === 0) return;
    const due = [...(this.#byFrame.get(number) ?? []), ...(name === undefined ? [] : (this.#byFrame.get(name) ?? []))];
    if (due.length === 0) return;
    const got = outcomeRecord(number, 0, outcome);
    const about = `frame ${number}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`;
    for (const { expected, path } of due) {
      this.#waiting.delete(path);
      this.#compare(path, about, expected, got);
      for (const [port, there] of Object.entries(expected.beyond ?? {})) {
        this.#compare(below(`${path}.beyond`, port), `${about} beyond ${port}`, there, got.beyond[port]);
      }
    }
  }

  #compare(path: string, about: string, expected: ExpectedOutcome, got: OutcomePart | undefined): void {
    if (got === undefined) {
      this.#failures.push({ path, about, what: "frame", expected: "a frame", got: "none came" });
      return;
    }
    for (const what of COMPARED) {
      if (expected[what] === undefined || same(expected[what], got[what])) continue;
      this.#failures.push({ path: `${path}.${what}`, about, what, expected: expected[what], got: got[what] });
    }
  }

  /** All that was not met, sums included. */
  failures({ tally, counters, flowCounters, rules, flows, hostRules }: Counted): Failure[] {
    const failures = [...this.#failures];
    for (const entries of this.#byFrame.values()) {
      for (const { expected, path } of entries) {
        if (!this.#waiting.has(path)) continue;
        const about = `frame ${typeof expected.frame === "number" ? expected.frame : JSON.stringify(expected.frame)}`;
        failures.push({ path, about, what: "frame", expected: "a frame", got: "none came" });
      }
    }
    const compare = (path: string, about: string, what: string, expected: number | undefined, got: number): void => {
      if (expected !== undefined && expected !== got) failures.push({ path, about, what, expected, got });
    };
    for (const [name, expected] of Object.entries(this.#expect.counters ?? {})) {
      const got = counters.get(name)?.read();
      const path = below("expect.counters", name);
      for (const what of ["packets", "bytes"] as const) {
        compare(`${path}.${what}`, `counter ${name}`, what, expected[what], Number(got?.[what] ?? 0n));
      }
    }
    for (const [name, expected] of Object.entries(this.#expect.flowCounters ?? {})) {
      const got = flowCounters.get(name)?.values().map(Number);
      if (same(expected, got)) continue;
      const path = below("expect.flowCounters", name);
      failures.push({ path, about: `flow counter ${name}`, what: "values", expected, got });
    }
    const { totals = {} } = this.#expect;
    for (const what of ["frames", "bytes"] as const) {
      compare(`expect.totals.${what}`, "all frames", what, totals[what], tally.all[what]);
    }
    const sums: [string, Record<string, number> | undefined, (name: string) => number][] = [
      ["verdicts", totals.verdicts, (name) => tally.verdicts.get(name as Outcome["verdict"])?.frames ?? 0],
      ["to", totals.to, (name) => tally.ends.find(({ to }) => to === name)?.frames ?? 0],
      ["copies", totals.copies, (name) => tally.copies.get(name)?.frames ?? 0],
      [
        "rules",
        totals.rules,
        (name) => {
          const rule = rules.get(name) ?? flows.get(name) ?? hostRules.get(name);
          return rule === undefined ? 0 : tally.rule(rule).frames;
        },
      ],
    ];
    for (const [key, expected, got] of sums) {
      for (const [name, frames] of Object.entries(expected ?? {})) {
        compare(below(`expect.totals.${key}`, name), `${TOTALS[key] ?? key} ${name}`, "frames", frames, got(name));
      }
    }
    return failures;
  }
}

const TOTALS: Readonly<Record<string, string>> = {
  verdicts: "verdict",
  to: "destination",
  copies: "copies to",
  rules: "rule",
};

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
