/** Some seconds of one target on one core. */
import { Random } from "../../oracle/generate/random.js";
import type { Coverage } from "../coverage/coverage.js";
import { type Input, inputOf } from "../input/input.js";
import { mutated, type Sized } from "../input/mutate.js";
import { shrunk } from "../input/shrink.js";
import type { Target } from "../target.js";
import type { Corpus } from "./corpus.js";
import { attempt, attemptAlone, type Failure } from "./failure.js";
import { repeatRandomValues } from "./randomValues.js";

/** The share of inputs that are new, not made of those of the corpus. */
const NEW = 0.3;
/** Seconds to make a failing input small. */
const SHRINKING = 60;

export interface Order {
  readonly target: Target;
  readonly corpus: Corpus;
  readonly coverage: Coverage;
  /** Whether inputs that reach something new are kept. */
  readonly guided: boolean;
  readonly seed: number;
  readonly seconds: number;
  /** Called with each input before it runs. */
  readonly note: (input: Input) => void;
  readonly failed: (failed: Failed) => void;
}

/** A failure, and the smallest input found that fails so. */
export interface Failed {
  readonly failure: Failure;
  readonly input: Input;
  /** Whether the input fails by itself. If not, inputs before it matter: `inputs` of them ran. */
  readonly alone: boolean;
  readonly inputs: number;
}

export interface Done {
  readonly inputs: number;
  readonly units: number;
  readonly seconds: number;
  /** Inputs added to the corpus. */
  readonly kept: number;
}

export async function runSlice(order: Order): Promise<Done> {
  const { target, corpus, coverage, guided, note } = order;
  const random = new Random(order.seed);
  const known = new Set<string>();
  // What earlier processes found is reached first.
  const again = guided ? [...corpus.inputs] : [];
  repeatRandomValues();
  let run = await target.open();
  const began = performance.now();
  const end = began + order.seconds * 1000;
  let [inputs, units, kept] = [0, 0, 0];
  coverage.fresh();
  while (performance.now() < end) {
    const repeated = again.pop();
    const input = repeated?.input ?? draw(corpus, random);
    note(input);
    const ran = await attempt(run, input);
    inputs++;
    units += ran.units;
    if (ran.failure !== null) {
      if (!known.has(ran.failure.signature)) {
        known.add(ran.failure.signature);
        order.failed({ ...(await examined(order, input, ran.failure)), inputs });
      }
      run = await target.open();
    } else if (guided && coverage.fresh() > 0 && repeated === undefined) {
      corpus.add({ input, length: ran.length });
      kept++;
    }
  }
  return { inputs, units, seconds: (performance.now() - began) / 1000, kept };
}

function draw(corpus: Corpus, random: Random): Input {
  if (corpus.size === 0 || random.chance(NEW)) return inputOf(random.word());
  const [of, other]: Sized[] = [corpus.pick(random), corpus.pick(random)];
  return mutated(of!, other!, random);
}

/** Runs the input alone, and makes it small. */
async function examined({ target, note }: Order, input: Input, failure: Failure): Promise<Omit<Failed, "inputs">> {
  const fails = async (tried: Input): Promise<boolean> => {
    note(tried);
    return (await attemptAlone(target, tried))?.signature === failure.signature;
  };
  if (!(await fails(input))) return { failure, input, alone: false };
  const small = await shrunk(input, failure.length, fails, performance.now() + SHRINKING * 1000);
  return { failure: (await attemptAlone(target, small)) ?? failure, input: small, alone: true };
}
