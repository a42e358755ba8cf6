/** The filter of the list, as one line of text with suggestions. */
import type { FilterFault } from "flowsteer/packet";
import type { JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { CompletionInput } from "../../parts/completionInput.js";
import { answer, totals } from "../../state/answer.js";
import { listed } from "../../state/frameList.js";
import { filter } from "../../state/selection.js";
import { filterText, parseFilter, sameFilter } from "./language.js";
import { suggestionsOf } from "./suggest.js";

/** Text and signal are one: what is typed sets the signal, and what others set is written. */
function useFilterText(): readonly [text: string, error: FilterFault | null, type: (text: string) => void] {
  const [text, setText] = useState(() => filterText(filter.peek()));
  const parsed = parseFilter(text);
  const wanted = filter.value;
  const typed = useRef(wanted);
  useEffect(() => {
    if (wanted === typed.current) return;
    typed.current = wanted;
    const now = parseFilter(text);
    if (now.error !== null || !sameFilter(now.filter, wanted)) setText(filterText(wanted));
  }, [wanted]);
  const type = (next: string): void => {
    setText(next);
    const { error, ...now } = parseFilter(next);
    if (error !== null || !("filter" in now) || sameFilter(now.filter, filter.peek())) return;
    typed.current = now.filter;
    filter.value = now.filter;
  };
  return [text, parsed.error, type];
}

export function FilterBar({ input }: { readonly input: RefObject<HTMLInputElement | null> }): JSX.Element {
  const id = useId();
  const [text, error, type] = useFilterText();
  const comparing = (answer.value?.changed ?? null) !== null;
  return (
    <div class="filter" role="search" aria-label="Frames">
      <div class="filter-line">
        <CompletionInput
          input={input}
          id={id}
          label="Filter frames"
          placeholder="Filter: ip.dst == 10.0.0.0/8 && udp.port == 4789"
          value={text}
          errorId={error === null ? null : `${id}-error`}
          completions={(written, place) => suggestionsOf(written, place, totals.value, comparing)}
          onInput={type}
          onEscape={() => {
            if (text === "") input.current?.blur();
            else type("");
          }}
        />
        {text !== "" && (
          <button
            type="button"
            class="quiet clear"
            onClick={() => {
              type("");
              input.current?.focus();
            }}
          >
            Clear
          </button>
        )}
      </div>
      {error === null && <NothingFound />}
      {error !== null && (
        <p id={`${id}-error`} class="filter-error" role="status">
          {error.from < error.to && <span class="mono">{text.slice(error.from, error.to)}: </span>}
          {error.text}
          {error.text.endsWith("?") ? "" : "."} The list keeps the last filter.
        </p>
      )}
    </div>
  );
}

/** Words are looked for in the rows: whoever meant a condition learns how one is written. */
function NothingFound(): JSX.Element | null {
  const [list, { text = "" }] = [listed.value, filter.value];
  if (text === "" || list === null || list.count > 0 || list.filter !== filter.value) return null;
  return (
    <p class="filter-note" role="status">
      No row with the words <span class="mono">{text}</span>. Conditions on fields are written{" "}
      <span class="mono">ip.dst == 10.0.0.0/8</span>.
    </p>
  );
}
