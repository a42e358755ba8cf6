/** The comparison in the strip: on or off, and how many frames changed. */
import type { JSX } from "preact";
import type { Answer } from "../../engine/api.js";
import { counted } from "../../parts/format.js";
import { stale } from "../../state/answer.js";
import { baselineRefused, comparing, pinRules } from "../../state/compare.js";
import { compared, comparedIsOld, comparisonProof } from "../../state/difference.js";
import { totalsOpen } from "../../state/view.js";
import { isFiltered, toggleFilter } from "../filtering.js";
import { verdictOf } from "./provedWords.js";

export function Comparison({ all: { changed } }: { readonly all: Answer }): JSX.Element {
  const on = comparing.value !== null;
  return (
    <div class="comparison">
      {on && changed !== null && <Changed changed={changed} />}
      {on && !baselineRefused.value && <Proved />}
      {on && baselineRefused.value && (
        <p class="error-text">The rules {comparing.value === "pinned" ? "pinned" : "as opened"} have an error</p>
      )}
      <button
        type="button"
        class="quiet"
        aria-pressed={on}
        aria-label={comparing.value === "pinned" ? "Compare with the pinned rules" : "Compare with the rules as opened"}
        title="How many frames end differently from under the rules you opened or pinned"
        onClick={() => (comparing.value = on ? null : "opened")}
      >
        Compare
      </button>
      {on && (
        <button
          type="button"
          class="quiet pin"
          disabled={stale.value}
          title="Compare with the current rules from now on"
          onClick={pinRules}
        >
          Pin these rules
        </button>
      )}
    </div>
  );
}

/** What is proved over all frames. A proof under way leaves the last one in view. */
function Proved(): JSX.Element | null {
  const found = compared.value;
  const { kind } = comparisonProof.status.value;
  const words = found === null ? null : verdictOf(found.result);
  return (
    <>
      {words !== null && (
        <button
          type="button"
          class="changed"
          data-old={comparedIsOld.value}
          title={`${words.text} Shows the totals`}
          onClick={() => (totalsOpen.value = true)}
        >
          <span aria-hidden="true">{words.shape}</span> {words.short}
        </button>
      )}
      {kind !== "idle" && <p class="muted">{PROOF_WORDS[kind]}</p>}
      <p class="visually-hidden" role="status">
        {words === null || comparedIsOld.value ? "" : words.text}
      </p>
    </>
  );
}

const PROOF_WORDS = {
  running: "proving ...",
  stopped: "proof stopped",
  late: "proof took too long",
  failed: "proof failed",
} as const;

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
