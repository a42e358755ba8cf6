/** Sums over all frames of a run. */
import { VERDICTS, type VerdictName } from "flowsteer";
import type { Failure, LoadedScenario, Scenario } from "flowsteer/scenario";
import type { MeterSeries, Sum, Totals } from "../api.js";
import { statesOf } from "./states.js";

/** Counters of a bulk that are read. */
const MAX_PER_BULK = 65_536;
const NONE: Sum = { frames: 0, bytes: 0 };

/**
 * @param own whether the frames are those that the expectations of the document are about
 */
export function totalsOf(loaded: LoadedScenario, meters: readonly MeterSeries[], own: boolean): Totals {
  const { tally, scenario } = loaded;
  const failures = own ? [...loaded.disagreements, ...loaded.failures()] : [];
  return {
    ...tally.all,
    verdicts: Object.fromEntries(
      VERDICTS.flatMap((name) => (name === "none" ? [] : [[name, tally.verdicts.get(name) ?? NONE]])),
    ) as Record<VerdictName, Sum>,
    destinations: mostFirst(
      tally.ends.flatMap(({ to, frames, bytes }) => (to === null ? [] : [{ to, frames, bytes }])),
    ),
    copies: mostFirst([...tally.copies].map(([to, sum]) => ({ to, ...sum }))),
    reasons: reasonsOf(loaded),
    rules: hitsOf(loaded),
    counters: countersOf(loaded),
    meters,
    states: statesOf(loaded),
    expectations: own ? expectationsOf(scenario) : 0,
    failures: failures.map(({ path, ...failure }) => ({ path, text: failureText(failure) })),
  };
}

function mostFirst<T extends Sum>(sums: T[]): T[] {
  return sums.sort((a, b) => b.frames - a.frames);
}

/** Frames that reached no destination, by verdict and reason, and the others by verdict. */
function reasonsOf({ tally }: LoadedScenario): Totals["reasons"] {
  const sums = new Map<string, Totals["reasons"][number]>();
  for (const { verdict, reason, frames, bytes } of tally.ends) {
    const key = `${verdict} ${reason}`;
    const before = sums.get(key) ?? NONE;
    sums.set(key, { verdict, reason, frames: before.frames + frames, bytes: before.bytes + bytes });
  }
  return mostFirst([...sums.values()]);
}

/** Every rule, flow and entry, section by section in the order of the document. */
function hitsOf({ tally, rules, flows, flowEntries, deviceFlows, hostRules }: LoadedScenario): Totals["rules"] {
  const sections = { rules, flows, flowEntries, deviceFlows, hostRules };
  return Object.entries(sections).flatMap(([section, all]) =>
    [...all.values()].map((one, i) => {
      const { frames, bytes } = tally.rule(one);
      return { name: one.name, path: `${section}[${i}]`, frames, bytes };
    }),
  );
}

/** Flow counters, and counters objects of the verbs; of a bulk, those that counted. */
function countersOf({ counters, flowCounters }: LoadedScenario): Totals["counters"] {
  const ofRules = [...counters].flatMap(([name, counter]) =>
    Array.from({ length: Math.min(counter.size, MAX_PER_BULK) }, (_, i) => {
      const { packets, bytes } = counter.read(i);
      const own = counter.size === 1 ? name : `${name}[${i}]`;
      return { name: own, packets: Number(packets), bytes: Number(bytes) };
    }).filter(({ packets }) => counter.size === 1 || packets > 0),
  );
  const ofFlows = [...flowCounters].map(([name, { counters: held }]) => {
    const { packets, bytes } = held.read();
    return { name, packets: Number(packets), bytes: Number(bytes) };
  });
  return [...ofRules, ...ofFlows];
}

function failureText({ about, what, expected, got }: Omit<Failure, "path">): string {
  return `${about}: ${what}: expected ${shown(expected)}, got ${shown(got)}`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Frames, messages, counters and objects that are expected, and sums of frames. */
function expectationsOf({ expect = {} }: Scenario): number {
  const { totals = {}, ...others } = expect;
  return [...Object.values(others), ...Object.values(totals)].reduce<number>(
    (sum, one) => sum + (typeof one === "object" ? Object.keys(one).length : 1),
    0,
  );
}
