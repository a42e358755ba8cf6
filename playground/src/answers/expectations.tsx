/** The expectations of the document: how many hold, and those that do not. */
import type { JSX } from "preact";
import type { Totals } from "../engine/api.js";
import { countText } from "../parts/format.js";
import { selectedPath } from "../state/selection.js";
import { failedCount } from "./expectationPath.js";
import { Limited } from "./limited.js";

export function Expectations({ totals }: { readonly totals: Totals }): JSX.Element | null {
  const { expectations, failures } = totals;
  if (expectations === 0) return null;
  const failed = failedCount(failures);
  return (
    <section aria-labelledby="totals-expectations">
      <h3 id="totals-expectations">Expectations</h3>
      <p>
        <span class="verdict" data-verdict={failed === 0 ? "deliver" : "drop"}>
          <span aria-hidden="true">{failed === 0 ? "✓" : "✕"}</span>{" "}
          {`${countText(expectations - failed)} of ${countText(expectations)} hold`}
        </span>
      </p>
      <Limited
        items={failures}
        noun="failure"
        list={(some) => (
          <ul class="lines">
            {some.map(({ path, text }) => (
              <li key={path}>
                <button
                  type="button"
                  class="quiet mono"
                  aria-pressed={selectedPath.value === path}
                  title="Select it in the rules"
                  onClick={() => (selectedPath.value = path)}
                >
                  {path}
                </button>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        )}
      />
    </section>
  );
}
