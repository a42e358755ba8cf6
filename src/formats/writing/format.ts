/** What a format is: how a scenario is written in it. */
import type { Scenario } from "../../scenario/document.js";
import type { ExportFindings } from "./finding.js";

export interface Format {
  /** What is written, in a few words: "testpmd commands". */
  readonly title: string;
  /**
   * Writes a checked scenario. What the format cannot express is told to `findings`, and left out of the
   * text; a rule that would do another thing without it is left out as a whole.
   */
  readonly write: (scenario: Scenario, findings: ExportFindings) => string;
}
