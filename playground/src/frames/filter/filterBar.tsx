/** The filter of the list, as one line of text with suggestions. */
import type { JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { answer, totals } from "../../state/answer.js";
import { filter } from "../../state/selection.js";
import { filterText, parseFilter, sameFilter, type FilterError } from "./language.js";
import { suggestionsOf, termAt, type Suggestion } from "./suggest.js";

/** Text and signal are one: what is typed sets the signal, and what others set is written. */
function useFilterText(): readonly [text: string, error: FilterError | null, type: (text: string) => void] {
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
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [place, setPlace] = useState(0);
  const comparing = (answer.value?.changed ?? null) !== null;
  const found = open ? suggestionsOf(text, place, totals.value, comparing) : [];
  const show = (): void => {
    setPlace(input.current?.selectionStart ?? 0);
    setOpen(true);
    setActive(-1);
  };
  const take = ({ text: written, more }: Suggestion): void => {
    const term = termAt(text, place);
    const [from, to] = [term?.from ?? place, term?.to ?? place];
    const after = more || text[to] === " " ? "" : " ";
    const next = text.slice(0, from) + written + after + text.slice(to);
    const end = from + written.length + (more ? 0 : 1);
    type(next);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(end, end);
      setPlace(end);
      setActive(-1);
      setOpen(more);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.preventDefault();
      if (open && found.length > 0) setOpen(false);
      else if (text !== "") type("");
      else input.current?.blur();
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) {
        show();
        return;
      }
      const by = event.key === "ArrowDown" ? 1 : -1;
      if (found.length > 0) setActive((active + by + found.length + (active < 0 && by < 0 ? 1 : 0)) % found.length);
      return;
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    const chosen = found[active];
    if (chosen !== undefined) take(chosen);
    else setOpen(false);
  };
  return (
    <div class="filter" role="search" aria-label="Frames">
      <div class="filter-line" data-error={error !== null || undefined}>
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Filter frames"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 && active < found.length ? `${id}-${active}` : undefined}
          aria-invalid={error !== null}
          aria-describedby={error === null ? undefined : `${id}-error`}
          placeholder="Filter: verdict:miss to:qp:blue 10.0.0.7"
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            type(event.currentTarget.value);
            show();
          }}
          onClick={show}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
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
        <ul id={`${id}-list`} role="listbox" aria-label="Suggestions" hidden={found.length === 0}>
          {found.map((one, i) => (
            <li
              key={one.text}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === active}
              onPointerDown={(event) => {
                event.preventDefault();
                take(one);
              }}
            >
              <span class="mono">{one.label}</span> <span class="muted">{one.note}</span>
            </li>
          ))}
        </ul>
      </div>
      {error !== null && (
        <p id={`${id}-error`} class="filter-error" role="status">
          <span class="mono">{text.slice(error.from, error.to)}</span>: {error.text}. The list keeps the last filter.
        </p>
      )}
    </div>
  );
}
