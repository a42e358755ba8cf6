/** Runs the witnesses of a cover one after the other, as a scenario file does, and notes how each ends. */
import {
  WITNESS_PAUSE,
  witnessTimes,
  type Cover,
  type RuleRef,
  type TableRef,
  type Witness,
} from "../../explain/index.js";
import type { Outcome } from "../../index.js";
import { farOutcomes, loadScenario, type FrameInput, type Scenario } from "../../scenario/index.js";
import { hexBytes } from "../input/hex.js";

/** A witness with a name of its own. */
export interface NamedWitness {
  readonly name: string;
  /** Null for the witness of a table. */
  readonly rule: RuleRef | null;
  readonly table: TableRef;
  readonly witness: Witness;
}

/** A frame of a file. */
export interface WitnessStep {
  readonly of: NamedWitness;
  /** False for a frame that only comes before the witness. */
  readonly isWitness: boolean;
  readonly frame: FrameInput & { readonly time: bigint };
  readonly outcome: Outcome;
}

/** The witnesses of a cover: those of rules, and of tables that no witness of a rule shows to be reached. */
export function namedWitnesses({ rules, tables }: Cover): NamedWitness[] {
  const names = new Set<string>();
  const unique = (wanted: string): string => {
    let name = wanted;
    for (let n = 2; names.has(name); n++) name = `${wanted} (${n})`;
    names.add(name);
    return name;
  };
  const found: NamedWitness[] = [];
  for (const { rule, table, coverage } of rules) {
    if (coverage.status === "witness") found.push({ name: unique(rule.name), rule, table, witness: coverage.witness });
  }
  const frames = new Set(found.map(({ witness: { bytes } }) => bytes));
  for (const { table, coverage } of tables) {
    if (coverage.status !== "witness" || frames.has(coverage.witness.bytes)) continue;
    found.push({ name: unique(`table ${table.table}`), rule: null, table, witness: coverage.witness });
  }
  return found;
}

/**
 * Puts witnesses into as few runs as possible: each run starts on a new device, and each of its witnesses hits its rule
 * although the others came before it.
 * @param scenario without frames, messages and expectations
 * @returns the runs, and witnesses that hit their rule in none
 */
export async function runsOf(
  scenario: Scenario,
  all: readonly NamedWitness[],
): Promise<{ runs: WitnessStep[][]; lost: readonly NamedWitness[] }> {
  const runs: WitnessStep[][] = [];
  let left = all;
  while (left.length > 0) {
    let chosen = left;
    let steps = await oneRun(scenario, chosen);
    for (let missed = missedBy(steps); missed.size > 0; missed = missedBy(steps)) {
      // State that earlier witnesses left is in the way: those that miss have a run of their own.
      chosen = chosen.filter((one) => !missed.has(one));
      steps = await oneRun(scenario, chosen);
    }
    if (chosen.length === 0) return { runs, lost: left };
    runs.push(steps);
    const taken = new Set(chosen);
    left = left.filter((one) => !taken.has(one));
  }
  return { runs, lost: [] };
}

async function oneRun(scenario: Scenario, all: readonly NamedWitness[]): Promise<WitnessStep[]> {
  const frames: Omit<WitnessStep, "outcome">[] = [];
  let start = 0n;
  for (const of of all) {
    const { before, ...last } = of.witness;
    const times = witnessTimes(of.witness, start);
    for (const [i, one] of [...before, last].entries()) {
      const time = times[i] as bigint;
      const { from, metadata } = one;
      const source =
        from.kind === "wire"
          ? { port: from.port }
          : { send: from.queue.replace(/^qp:/, ""), ...(metadata === undefined ? {} : { metadata }) };
      frames.push({ of, isWitness: i === before.length, frame: { bytes: hexBytes(one.bytes), time, ...source } });
    }
    start = (times.at(-1) ?? start) + WITNESS_PAUSE;
  }
  const loaded = await loadScenario(scenario);
  const outcomes = loaded.run(frames.map(({ frame }) => frame));
  return frames.map((step, i) => ({ ...step, outcome: outcomes[i] as Outcome }));
}

function missedBy(steps: readonly WitnessStep[]): ReadonlySet<NamedWitness> {
  return new Set(steps.flatMap(({ of, isWitness, outcome }) => (isWitness && !isHit(of.rule, outcome) ? [of] : [])));
}

/** Outcomes do not list the rules of connections. */
function isHit(rule: RuleRef | null, outcome: Outcome): boolean {
  if (rule === null || rule.kind === "connection") return true;
  return (
    outcome.rules.some(({ name }) => isNamed(rule.name, name)) ||
    farOutcomes(outcome).some(([, far]) => isHit(rule, far))
  );
}

/** Whether a name is that of a rule, or one of those of identical flows. */
function isNamed(names: string, name: string): boolean {
  return names === name || ` = ${names} = `.includes(` = ${name} = `);
}
