/** Fields of a rule that the frame does not have: expected, found, and the bits. */
import type { JSX } from "preact";
import type { Difference } from "flowsteer/explain";
import { fieldName } from "../../state/ownWords.js";
import { selectedField } from "../../state/selection.js";
import { bitCells } from "./bitCells.js";

interface DifferencesProps {
  readonly differences: readonly Difference[];
  /** The name of the rule. */
  readonly rule: string;
}

export function Differences({ differences, rule }: DifferencesProps): JSX.Element {
  return (
    <ul class="differences">
      {differences.map((one) => (
        <li key={one.field}>
          <button
            type="button"
            class="field quiet mono"
            aria-pressed={selectedField.value === one.field}
            onClick={() => void (selectedField.value = selectedField.peek() === one.field ? null : one.field)}
          >
            {fieldName(one.field, rule)}
          </button>
          <span class="compared">
            expected <b class="mono">{one.wanted}</b>
            {one.found === null ? `; ${one.absent ?? "the header is absent"}` : ", found "}
            {one.found !== null && <b class="mono">{one.found}</b>}
          </span>
          <Bits difference={one} />
          {one.note !== null && <span class="muted">{one.note}</span>}
        </li>
      ))}
    </ul>
  );
}

function Bits({ difference }: { readonly difference: Difference }): JSX.Element | null {
  const groups = bitCells(difference);
  if (groups.length === 0) return null;
  const { distance } = difference;
  return (
    <span
      class="bits"
      role="img"
      aria-label={`${distance} of ${difference.bits.length} bits ${distance === 1 ? "differs" : "differ"}`}
    >
      {groups.map((cells, i) => (
        <span key={i} class="bit-group">
          {cells.map(({ state, wanted, found }, j) => (
            <span key={j} class="bit" data-state={state}>
              <span>{wanted}</span>
              <span>{found}</span>
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
