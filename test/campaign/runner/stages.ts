/** The parts of a target's turn. */
import type { Flavour, Target } from "../target.js";

/** `guided` keeps inputs that reach something new; the others are faster. */
export const STAGES = ["guided", "checked", "release"] as const;
export type Stage = (typeof STAGES)[number];

export function flavourOf({ guide }: Target, stage: Stage): Flavour {
  if (stage === "release") return "release";
  return stage === "guided" && guide === "core" ? "coverage" : "debug";
}

/** The stages of a target: one that takes no flavour has one. */
export function stagesOf({ guide, checkedOnly }: Target): readonly Stage[] {
  if (checkedOnly === true) return ["guided", "checked"];
  return guide === null ? ["release"] : STAGES;
}
