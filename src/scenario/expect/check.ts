/** Compares the expectations of a scenario with the outcomes. */
import { inCall } from "../../errors.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { Destination, HitRule, Outcome } from "../../model/traffic/outcome.js";
import type { ExpectedFrame, ExpectedOutcome, ScenarioExpectations } from "./definition.js";
import type { Failure } from "./failure.js";
import { asoFailures, counterFailures, type ReadCounter } from "./state.js";
import { frameCheck, type FieldsOf, type FrameCheck } from "./frames.js";
import { farOutcomes, outcomeNames } from "../outcome/record.js";
import { attemptEach, type Report } from "../report.js";
import { below } from "../schema/path.js";
import type { Tally } from "../outcome/tally.js";

const COMPARED = ["verdict", "reason", "to", "toTags", "tag", "rules", "copies", "copyTags", "registers"] as const;

/** The sums that it reads: those of a loaded scenario. */
export interface Counted {
  readonly tally: Tally;
  readonly counters: ReadonlyMap<string, ReadCounter>;
  readonly asoObjects: ReadonlyMap<string, AsoObject>;
  readonly flowCounters: ReadonlyMap<string, { values(): bigint[] }>;
  readonly rules: ReadonlyMap<string, HitRule>;
  readonly flows: ReadonlyMap<string, HitRule>;
  readonly flowEntries: ReadonlyMap<string, HitRule>;
  readonly deviceFlows: ReadonlyMap<string, HitRule>;
  readonly hostRules: ReadonlyMap<string, HitRule>;
}

/** An expected outcome, and the frames that must arrive. */
interface Expected {
  readonly path: string;
  readonly outcome: ExpectedOutcome;
  readonly toFrames: readonly (FrameCheck | null)[] | undefined;
  readonly copyFrames: readonly (FrameCheck | null)[] | undefined;
}

interface ExpectedOne extends Expected {
  readonly frame: ExpectedFrame["frame"];
  /** Expected frames by the port that they leave from. */
  readonly beyond: readonly (readonly [port: string, expected: Expected])[];
}

/** The comparison of a frame with an expectation. */
export interface Compared {
  /** The number of the frame. */
  readonly frame: number;
  /** The path of the expectation. */
  readonly path: string;
  readonly failures: readonly Failure[];
}

/** A frame that arrives. */
interface SeenFrame {
  readonly name?: string;
  /** @default 1 */
  readonly linkType?: number;
}

/** The expectations for single frames. It sees every frame as it is steered. */
export class Expectations {
  readonly #expect: ScenarioExpectations;
  readonly #fieldsOf: FieldsOf;
  readonly #byFrame = new Map<number | string, ExpectedOne[]>();
  readonly #waiting = new Set<string>();
  #compared: Compared[] = [];
  /** Those of the comparison that is being made. */
  #failures: Failure[] = [];

  /** @param report takes refusals of expected frames that are malformed */
  constructor(expect: ScenarioExpectations, fieldsOf: FieldsOf, report: Report) {
    this.#expect = expect;
    this.#fieldsOf = fieldsOf;
    attemptEach(report, "expect.frames", expect.frames, (one, path) => {
      const all = this.#byFrame.get(one.frame) ?? [];
      const beyond = Object.entries(one.beyond ?? {}).map(
        ([port, there]) => [port, expectedAt(below(`${path}.beyond`, port), there)] as const,
      );
      all.push({ frame: one.frame, beyond, ...expectedAt(path, one) });
      this.#byFrame.set(one.frame, all);
      this.#waiting.add(path);
    });
  }

  /** Whether any single frame has an expectation. */
  get ofFrames(): boolean {
    return this.#byFrame.size > 0;
  }

  /** Whether the frame of this number has an expectation. */
  awaits(number: number): boolean {
    return this.#byFrame.has(number);
  }

  /** Compares the outcome of a frame. */
  see(number: number, { name, linkType = 1 }: SeenFrame, outcome: Outcome): void {
    if (this.#byFrame.size === 0) return;
    const due = [...(this.#byFrame.get(number) ?? []), ...(name === undefined ? [] : (this.#byFrame.get(name) ?? []))];
    if (due.length === 0) return;
    const far = new Map(farOutcomes(outcome).map(([port, there]) => [port, there]));
    const about = `frame ${number}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`;
    for (const expected of due) {
      this.#failures = [];
      this.#compare(about, expected, linkType, outcome);
      for (const [port, there] of expected.beyond) {
        const left = outcome.to.find((one) => one.name === port);
        this.#compare(`${about} beyond ${port}`, there, left?.linkType ?? linkType, far.get(port));
      }
      this.add({ frame: number, path: expected.path, failures: this.#failures });
    }
  }

  /** Adds a comparison, which may have been made elsewhere by the same document. */
  add(compared: Compared): void {
    this.#waiting.delete(compared.path);
    this.#compared.push(compared);
  }

  /** The comparisons since the last call; those of before are forgotten. */
  take(): Compared[] {
    const compared = this.#compared;
    this.#compared = [];
    return compared;
  }

  #compare(
    about: string,
    { path, outcome: expected, toFrames, copyFrames }: Expected,
    linkType: number,
    outcome: Outcome | undefined,
  ): void {
    if (outcome === undefined) {
      this.#failures.push({ path, about, what: "frame", expected: "a frame", got: "none came" });
      return;
    }
    const got = outcomeNames(outcome);
    for (const what of COMPARED) {
      if (expected[what] === undefined || same(expected[what], got[what])) continue;
      this.#failures.push({ path: `${path}.${what}`, about, what, expected: expected[what], got: got[what] });
    }
    this.#compareFrames(`${path}.toFrames`, about, toFrames, linkType, outcome.to);
    this.#compareFrames(`${path}.copyFrames`, about, copyFrames, linkType, outcome.copies);
  }

  #compareFrames(
    path: string,
    about: string,
    checks: readonly (FrameCheck | null)[] | undefined,
    linkType: number,
    arrived: readonly Destination[],
  ): void {
    if (checks === undefined) return;
    if (checks.length !== arrived.length) {
      const [expected, got] = [counted(checks.length), counted(arrived.length)];
      this.#failures.push({ path, about, what: "frames", expected, got });
      return;
    }
    checks.forEach((check, i) => {
      const { frame, name, linkType: own = linkType } = arrived[i] as Destination;
      for (const { path: inner, what, expected, got } of check?.(frame, () => this.#fieldsOf(frame, own)) ?? []) {
        this.#failures.push({ path: below(path, i) + inner, about: `${about} at ${name}`, what, expected, got });
      }
    });
  }

  /** All unmet expectations, sums included. */
  failures(counted: Counted): Failure[] {
    const { tally, counters, asoObjects, flowCounters } = counted;
    const { rules, flows, flowEntries, deviceFlows, hostRules } = counted;
    const failures = this.#compared.flatMap((one) => one.failures);
    for (const entries of this.#byFrame.values()) {
      for (const { frame, path } of entries) {
        if (!this.#waiting.has(path)) continue;
        const about = `frame ${typeof frame === "number" ? frame : JSON.stringify(frame)}`;
        failures.push({ path, about, what: "frame", expected: "a frame", got: "none came" });
      }
    }
    const compare = (path: string, about: string, what: string, expected: number | undefined, got: number): void => {
      if (expected !== undefined && expected !== got) failures.push({ path, about, what, expected, got });
    };
    for (const [name, expected] of Object.entries(this.#expect.counters ?? {})) {
      const counter = counters.get(name);
      if (counter !== undefined) {
        failures.push(...counterFailures(below("expect.counters", name), name, expected, counter));
      }
    }
    for (const [name, expected] of Object.entries(this.#expect.asoObjects ?? {})) {
      const object = asoObjects.get(name);
      if (object !== undefined) failures.push(...asoFailures(below("expect.asoObjects", name), object, expected));
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
          const lists: ReadonlyMap<string, HitRule>[] = [rules, flows, flowEntries, deviceFlows, hostRules];
          const rule = lists.find((list) => list.has(name))?.get(name);
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

function expectedAt(path: string, outcome: ExpectedOutcome): Expected {
  return inCall("loadScenario", () => {
    const checks = (what: "toFrames" | "copyFrames"): (FrameCheck | null)[] | undefined =>
      outcome[what]?.map((frame, i) => frameCheck(below(`${path}.${what}`, i), frame));
    return { path, outcome, toFrames: checks("toFrames"), copyFrames: checks("copyFrames") };
  });
}

function counted(frames: number): string {
  return frames === 1 ? "1 frame" : `${frames} frames`;
}

/** Compares lists in order, and objects regardless of the order of their keys. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sorted) === JSON.stringify(b, sorted);
}

function sorted(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
