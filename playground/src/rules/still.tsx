/**
 * The rules as text, until somebody touches the page. The editor is a third of all code that the page
 * can load at its start, and nobody types before they move, tap or press a key. Places and colours are
 * those of the editor, so nothing jumps when it comes.
 */
import type { JSX } from "preact";
import { untracked, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { written } from "../state/document.js";
import { rangeInWritten } from "../state/imported.js";
import { LINES_BEFORE, spokenOf } from "../state/spoken.js";

/** Lines that are drawn: more than fit a screen. */
const MAX_LINES = 200;
/** As deep as the editor indents wrapped lines. */
const DEEPEST = 24;

export function StillRules(): JSX.Element {
  const shown = useRef<HTMLPreElement>(null);
  useSignalEffect(() => {
    const path = spokenOf.value;
    const range = path === null ? null : untracked(() => rangeInWritten(path));
    if (range === null || shown.current === null) return;
    const line = written.peek().slice(0, range.from).split("\n").length - 1;
    const first = shown.current.children[Math.max(0, line - LINES_BEFORE)];
    if (first === undefined) return;
    // The editor scrolls to the letters of a line, which are lower than its box.
    const letters = document.createRange();
    letters.selectNodeContents(first);
    const { top } = shown.current.getBoundingClientRect();
    shown.current.scrollTop += letters.getBoundingClientRect().top - top;
  });
  return (
    <pre
      ref={shown}
      class="still-rules"
      role="textbox"
      aria-label="Rules"
      aria-multiline="true"
      aria-readonly="true"
      tabIndex={0}
    >
      {written.value.split("\n", MAX_LINES).map((line, i) => (
        <Line key={i} text={line} />
      ))}
    </pre>
  );
}

/** A string, with the colon of a name; a number; a word; punctuation. */
const TOKEN = /("(?:[^"\\]|\\.)*")(?=(\s*:)?)|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:])/g;

function Line({ text }: { readonly text: string }): JSX.Element {
  const indent = Math.min(/^ */.exec(text)?.[0].length ?? 0, DEEPEST);
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [token, string, colon, number, word] = found;
    parts.push(text.slice(at, found.index));
    const kind =
      string !== undefined
        ? colon === undefined
          ? "string"
          : "name"
        : number !== undefined
          ? "number"
          : word !== undefined
            ? "word"
            : "mark";
    parts.push(
      <span key={found.index} data-kind={kind}>
        {token}
      </span>,
    );
    at = found.index + token.length;
  }
  parts.push(text.slice(at));
  const hang = indent + 2;
  return (
    <div class="still-line" style={{ paddingLeft: `calc(${hang}ch + 68px)`, textIndent: `-${hang}ch` }}>
      {parts}
    </div>
  );
}
