/**
 * Lookups in a rule set: the engine in batches, plain JavaScript, and rte_acl where it is
 * installed.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { repeated, type Target, type TimedCase, type Workload } from "../harness.js";
import { RteAcl } from "../peers/rteAcl.js";
import { target, type Workbench } from "./goals.js";
import { readRules, readTrace, type SetName, type SetSize, type Trace, type TraceKind } from "./ruleSets.js";
import { EngineSide, insertAll, PlainSide } from "./sides.js";

export const PLAIN = "plain JavaScript, a Map a mask";
const SCALAR = "rte_acl, scalar";
/** Prefix of the name of a vector case; the method follows. */
const VECTOR = "rte_acl, ";

/** Yields one workload, and ends the other process after it. */
export async function* lookups(
  set: SetName,
  size: SetSize,
  kind: TraceKind,
  program: string | undefined,
): AsyncGenerator<Workload> {
  const rules = readRules(set, size);
  const trace = readTrace(set, size, kind);
  const bench: Workbench = size === "10k" && kind === "mix" ? "10k mix" : size;
  const name = `${set} ${bench}`;

  const engine = await EngineSide.open(rules, trace.headers);
  insertAll(engine, rules.length);
  const plain = new PlainSide(rules, trace.headers);
  plain.renew();
  insertAll(plain, rules.length);
  const acl = program === undefined ? undefined : await RteAcl.start(program, rules, trace);

  const facts: Record<string, number> = {};
  if (acl !== undefined && kind === "uniform") {
    facts[`${name}, rte_acl, bytes a rule`] = acl.bytesPerRule;
    facts[`${name}, rte_acl, seconds to build`] = acl.buildSeconds;
  }
  const targets: Record<string, Target> = { [PLAIN]: target(set, bench, "plain") };
  const cases: TimedCase[] = [MAX_BATCH, 32, 1].map((batch) => ({
    name: batch === 1 ? "engine, one a call" : `engine, batch of ${batch}`,
    seconds: repeated((times) => engine.seconds(batch, times)),
    // Goals of batches do not apply to one lookup per call.
    ...(batch === 1 ? {} : { targets }),
  }));
  cases.push({ name: PLAIN, peer: true, seconds: repeated((times) => plain.seconds(times)) });
  if (acl !== undefined) {
    const vector = `${VECTOR}${acl.vector}`;
    targets[SCALAR] = target(set, bench, "scalar");
    // The goals are of AVX-512; a machine may have less.
    if (acl.vector.startsWith("AVX-512")) targets[vector] = target(set, bench, "vector");
    cases.push({ name: SCALAR, peer: true, seconds: repeated((times) => acl.seconds("scalar", times)) });
    cases.push({ name: vector, peer: true, seconds: repeated((times) => acl.seconds("vector", times)) });
  }
  try {
    yield {
      name,
      unit: "key",
      units: trace.expected.length,
      check() {
        // rte_acl has done so itself.
        for (const batch of [MAX_BATCH, 32, 1]) hold(`${name}, batches of ${batch}`, engine.answers(batch), trace);
        hold(`${name}, ${PLAIN}`, plain.answers(), trace);
      },
      cases,
      facts,
    };
  } finally {
    acl?.stop();
  }
}

export function hold(what: string, lines: Int32Array, { expected }: Pick<Trace, "expected">): void {
  const wrong = expected.findIndex((line, i) => line !== lines[i]);
  if (wrong >= 0) throw new Error(`bench: ${what}: header ${wrong} finds line ${lines[wrong]}, not ${expected[wrong]}`);
}
