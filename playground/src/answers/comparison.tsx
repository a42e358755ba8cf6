/** The comparison in the strip: on or off, and how many frames changed. */
import type { JSX } from "preact";
import type { Answer } from "../engine/api.js";
import { counted } from "../parts/format.js";
import { stale } from "../state/answer.js";
import { baselineRefused, comparing, pinRules } from "../state/compare.js";
import { isFiltered, toggleFilter } from "./filtering.js";

export function Comparison({ all: { changed } }: { readonly all: Answer }): JSX.Element {
  const on = comparing.value !== null;
  return (
    <div class="comparison">
      {on && changed !== null && <Changed changed={changed} />}
      {on && baselineRefused.value && (
        <p class="error-text">The rules {comparing.value === "pinned" ? "pinned" : "as opened"} have an error</p>
      )}
      <button
        type="button"
        class="quiet"
        aria-pressed={on}
        aria-label={comparing.value === "pinned" ? "Compare with the pinned rules" : "Compare with the rules as opened"}
        title="How many frames end otherwise than under the rules that you opened or pinned"
        onClick={() => (comparing.value = on ? null : "opened")}
      >
        Compare
      </button>
      {on && (
        <button
          type="button"
          class="quiet"
          disabled={stale.value}
          title="Compare from now on with the rules as they are now"
          onClick={pinRules}
        >
          Pin these rules
        </button>
      )}
    </div>
  );
}

function Changed({ changed }: { readonly changed: number }): JSX.Element {
  const text = `${counted(changed, "frame")} changed`;
  return (
    <>
      {changed === 0 ? (
        <p class="changed">{text}</p>
      ) : (
        <button
          type="button"
          class="changed"
          aria-pressed={isFiltered({ changed: true })}
          onClick={() => toggleFilter({ changed: true })}
          title="Show only these"
        >
          <span aria-hidden="true">≠</span> {text}
        </button>
      )}
      <p class="visually-hidden" role="status">
        {text}
      </p>
    </>
  );
}
