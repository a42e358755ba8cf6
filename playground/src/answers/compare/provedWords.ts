/** What the proved comparison found, in words. */
import { counted } from "../../parts/format.js";
import type { ComparedRules } from "../../proof/api.js";

interface Verdict {
  readonly shape: "✓" | "≠" | "?";
  /** A line. */
  readonly short: string;
  /** A sentence or two. */
  readonly text: string;
}

export function verdictOf({ equal, groups, changes, unknown }: ComparedRules): Verdict {
  if (equal) {
    const short = "Equivalent for all frames: proved";
    const why = changes === 0 ? "The rules are equivalent." : `No frame can notice ${changesText(changes)}.`;
    return { shape: "✓", short, text: `${short}. ${why}` };
  }
  if (groups.length === 0) {
    const why = `Neither a difference nor a proof was found for ${unknown} of ${counted(changes, "change")}.`;
    return {
      shape: "?",
      short: "Not known to be equivalent",
      text: `Not known to be equivalent for all frames. ${why}`,
    };
  }
  const short = counted(groups.length, "difference");
  return { shape: "≠", short, text: `${short}, each shown by a frame that was steered through both.` };
}

function changesText(count: number): string {
  return count === 1 ? "the change" : `any of the ${counted(count, "change")}`;
}
