/** How a run ends that shows a defect. */
import { Choices, TooManyWords } from "../input/choices.js";
import type { Input } from "../input/input.js";
import type { Run, Target } from "../target.js";
import { repeatRandomValues } from "./randomValues.js";

export interface Failure {
  /** Error, message and stack. */
  readonly text: string;
  /** Equal for failures that are likely of one defect. */
  readonly signature: string;
  /** The number of words drawn. */
  readonly length: number;
}

/** What a run did. */
export interface Ran {
  readonly units: number;
  readonly length: number;
  readonly failure: Failure | null;
}

export async function attempt(run: Run, input: Input): Promise<Ran> {
  const choices = new Choices(input);
  try {
    const units = await run(choices);
    return { units, length: choices.count, failure: null };
  } catch (error) {
    const length = choices.count;
    if (error instanceof TooManyWords) return { units: 0, length, failure: null };
    const text = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
    return { units: 0, length, failure: { text, signature: signatureOf(text), length } };
  }
}

/** The run of an input alone, on a target opened for it. */
export async function attemptAlone(target: Target, input: Input): Promise<Failure | null> {
  repeatRandomValues();
  return (await attempt(await target.open(), input)).failure;
}

/** The first line without what differs from frame to frame, and where it was thrown. */
function signatureOf(text: string): string {
  const [first = ""] = text.split("\n");
  // Whoever called `attempt` is not of the failure. The bundle adds digits to names.
  const [inRun = ""] = text.split(/\n\s+at (?:async )?attempt\d* /, 1);
  const where = [...inRun.matchAll(/\n\s+at (?:async )?([\w.#]+)/g)].slice(0, 3).map(([, name]) => name);
  return `${first.replace(/0x[0-9a-f]+|[0-9a-f]{8,}|\d+/gi, "#").slice(0, 120)} | ${where.join(" < ")}`;
}
