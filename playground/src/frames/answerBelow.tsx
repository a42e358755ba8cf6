/** Why the selected frame ended as it did, below the list, where the path is another tab. */
import type { JSX } from "preact";
import { selectedFrame, way } from "../state/selection.js";
import { shownPane } from "../state/view.js";
import { Sentences } from "../way/why/why.js";

export function AnswerBelow(): JSX.Element | null {
  const found = way.value;
  if (found === null || found.frame !== selectedFrame.value) return null;
  return (
    <section class="answer-below" aria-label={`Answer for frame ${found.frame}`}>
      <div aria-live="polite">
        <Sentences />
      </div>
      <button type="button" onClick={() => (shownPane.value = "way")}>
        Show the path of frame {found.frame}
      </button>
    </section>
  );
}
