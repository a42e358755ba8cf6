/** An entry of the catalogue: a mistake planted in a scenario, what an explanation must say, and what corrects it. */
import type { Target } from "../../../../src/explain/why/explanation.js";
import type { Change } from "./patch.js";

export interface Entry {
  /**
   * The scenario, by its path in this folder and without ".json". Its last frame is the one that
   * is explained; its expectations have the outcome that its author did not expect.
   */
  readonly file: string;
  /** What the author expected the frame to come to. */
  readonly target: Target;
  /** The name of the mistake; null for what has no name. */
  readonly mistake: string | null;
  /** Parts of the sentences of the explanation. */
  readonly says: readonly string[];
  /** With these changes of the scenario the frame comes to the target. */
  readonly correction: readonly Change[];
}
