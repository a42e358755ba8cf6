/** Runs one input of a target in a test: what the campaign found once. */
import { attemptAlone } from "./runner/failure.js";
import { useCore } from "./runner/flavour.js";
import { parseInput } from "./input/input.js";
import type { Flavour } from "./target.js";
import { targetNamed } from "./targets/index.js";

/** @throws Error the input fails, with what went wrong */
export async function replay(target: string, flavour: Flavour, input: string): Promise<void> {
  const before = import.meta.env?.["FLOWSTEER_CORE"] as Flavour | undefined;
  // The coverage core has the assertions of the debug core, and imports what only the campaign has.
  useCore(flavour === "coverage" ? "debug" : flavour);
  try {
    const failure = await attemptAlone(targetNamed(target), parseInput(input));
    if (failure !== null) throw new Error(failure.text);
  } finally {
    useCore(before ?? "release");
  }
}
