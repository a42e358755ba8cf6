/** A line of text with suggestions of what can be written at the cursor. */
import type { JSX, RefObject } from "preact";
import { useState } from "preact/hooks";

export interface Completion {
  /** What is written in place of the characters from `from` to `to` - 1. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly note: string;
  /** Whether more suggestions follow it. */
  readonly more: boolean;
}

interface CompletionInputProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly id: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  /** The id of the element that says what is wrong; null if nothing is. */
  readonly errorId: string | null;
  readonly completions: (text: string, place: number) => readonly Completion[];
  readonly onInput: (text: string) => void;
  /** @returns whether the pasted text is used: it is not put into the line */
  readonly onPaste?: (text: string) => boolean;
  /** Escape, while no suggestions are shown. */
  readonly onEscape?: () => void;
}

export function CompletionInput(props: CompletionInputProps): JSX.Element {
  const { input, id, label, placeholder, value, errorId, completions, onInput, onPaste, onEscape } = props;
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [place, setPlace] = useState(0);
  const found = open ? completions(value, place) : [];
  const show = (): void => {
    setPlace(input.current?.selectionStart ?? 0);
    setOpen(true);
    setActive(-1);
  };
  const take = ({ text, from, to, more }: Completion): void => {
    const written = value.slice(0, from) + text + value.slice(to);
    const end = from + text.length;
    // At once, so that a key that is hit before the next frame is drawn comes after the text.
    if (input.current !== null) {
      input.current.value = written;
      input.current.focus();
      input.current.setSelectionRange(end, end);
    }
    onInput(written);
    setPlace(end);
    setActive(-1);
    setOpen(more);
  };
  const move = (by: number): void => {
    if (!open) show();
    else if (found.length > 0) setActive((active + by + found.length + (active < 0 && by < 0 ? 1 : 0)) % found.length);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = found[active];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Escape" && found.length > 0) setOpen(false);
    else if (event.key === "Escape" && onEscape !== undefined) onEscape();
    else if (event.key === "Enter" && chosen !== undefined) take(chosen);
    else if (event.key === "Enter") setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="completion-input">
      <input
        ref={input}
        type="text"
        role="combobox"
        onPaste={(event) => {
          if (onPaste?.(event.clipboardData?.getData("text") ?? "") === true) event.preventDefault();
        }}
        aria-label={label}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 && active < found.length ? `${id}-${active}` : undefined}
        aria-invalid={errorId !== null}
        aria-describedby={errorId ?? undefined}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={(event) => {
          onInput(event.currentTarget.value);
          show();
        }}
        onClick={show}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Suggestions" hidden={found.length === 0}>
        {found.map((one, i) => (
          <li
            key={one.label}
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
  );
}
