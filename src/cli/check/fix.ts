/** `check --fix`: repairs that are sure, as small edits of the text. */
import { checkScenario, DocumentPlaces, withoutValues } from "../../scenario/index.js";
import type { FindingLine } from "../report/checkLines.js";
import type { CheckedFile } from "./findings.js";

export interface FixedText {
  readonly text: string;
  /** The findings that were repaired. */
  readonly fixed: readonly FindingLine[];
}

/** The text with the repairs of its findings. A repair that would make an error, or another text than JSON, is left out. */
export async function fixedText({ text, scenario, findings }: CheckedFile): Promise<FixedText> {
  const none = { text, fixed: [] };
  if (scenario === null) return none;
  const places = new DocumentPlaces(text, scenario);
  const repairs = findings.flatMap((finding) => {
    const keys = places.removedBy(finding.fix);
    return keys === null ? [] : [{ finding, keys }];
  });
  let good: typeof repairs = [];
  for (const repair of repairs) {
    const all = [...good, repair];
    const { refusals } = await checkScenario(
      withoutValues(
        text,
        all.map(({ keys }) => keys),
      ),
    );
    if (refusals.length === 0) good = all;
  }
  if (good.length === 0) return none;
  return {
    text: withoutValues(
      text,
      good.map(({ keys }) => keys),
    ),
    fixed: good.map(({ finding }) => finding),
  };
}
