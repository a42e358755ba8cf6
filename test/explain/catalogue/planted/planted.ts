/** The second catalogue's planted mistakes. */
import { importRules } from "../../../../src/import/index.js";
import { loadScenario, type LoadedScenario } from "../../../../src/scenario/index.js";
import { patched } from "../support/patch.js";
import { COPIES } from "./copies.js";
import { HEADERS } from "./headers.js";
import { MASKS } from "./masks.js";
import { ORDER } from "./order.js";
import { REWRITTEN } from "./rewritten.js";
import { frameOf, type ImportedText, type Planted } from "./shapes.js";
import { STATE } from "./state.js";
import { TEXTS } from "./texts.js";
import { TUNNELS } from "./tunnels.js";

export const PLANTED: readonly Planted[] = [
  ...ORDER,
  ...REWRITTEN,
  ...MASKS,
  ...TUNNELS,
  ...STATE,
  ...COPIES,
  ...HEADERS,
  ...TEXTS,
];

function imported({ file, frames }: ImportedText, text: string): object {
  const { scenario } = importRules([{ file, text }], { lenient: true });
  return { ...scenario, frames: frames.map(frameOf) };
}

/** A planted mistake, or what corrects it. */
export function loadPlanted({ scenario, correction }: Planted, corrected = false): Promise<LoadedScenario> {
  if ("text" in scenario) return loadScenario(imported(scenario, corrected ? scenario.corrected : scenario.text));
  return loadScenario(corrected ? patched(scenario, correction) : scenario);
}
