/** The lesson above the panes: what to know, what to do, and whether it is done. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { IconButton } from "../parts/button.js";
import { Verdict } from "../parts/verdict.js";
import { selectedFrame } from "../state/selection.js";
import { LESSONS, type Checked } from "./lesson.js";
import {
  checked,
  done,
  endTour,
  isAnother,
  isFulfilled,
  lesson,
  openLesson,
  showSolution,
  startAgain,
} from "./tour.js";

export function TourPanel(): JSX.Element | null {
  const open = lesson.value;
  return open === null ? null : <Shown key={open.name} />;
}

function Shown(): JSX.Element | null {
  const [hints, setHints] = useState(0);
  const open = lesson.value;
  if (open === null) return null;
  const { name, lesson: about } = open;
  const at = LESSONS.indexOf(name);
  return (
    <section class="tour" aria-labelledby="tour-title">
      <header class="tour-head">
        <h2 id="tour-title">
          {at + 1} of {LESSONS.length}: {about.title}
        </h2>
        <ol class="tour-places" aria-label="Lessons">
          {LESSONS.map((one, i) => (
            <li key={one}>
              <button
                type="button"
                aria-label={`Lesson ${i + 1}${done.value.has(one) ? ", done" : ""}`}
                aria-current={one === name ? "step" : undefined}
                data-done={done.value.has(one)}
                onClick={() => void openLesson(one)}
              >
                {done.value.has(one) ? "✓" : i + 1}
              </button>
            </li>
          ))}
        </ol>
        <IconButton label="Leave the tour" onClick={() => void endTour()}>
          <path d="M4 4l8 8M12 4l-8 8" />
        </IconButton>
      </header>
      <div class="tour-body">
        <div class="tour-text">
          {about.text.map((paragraph) => (
            <p key={paragraph}>{withCode(paragraph)}</p>
          ))}
          <p class="tour-task">{withCode(about.task)}</p>
          {about.hints.slice(0, hints).map((hint) => (
            <p key={hint} class="tour-hint">
              {withCode(hint)}
            </p>
          ))}
        </div>
        <Check />
      </div>
      <footer class="tour-actions">
        <Buttons hints={hints} most={about.hints.length} onHint={() => setHints(hints + 1)} at={at} />
      </footer>
    </section>
  );
}

interface ButtonsProps {
  readonly hints: number;
  readonly most: number;
  readonly onHint: () => void;
  readonly at: number;
}

function Buttons({ hints, most, onHint, at }: ButtonsProps): JSX.Element {
  const [before, after] = [LESSONS[at - 1], LESSONS[at + 1]];
  return (
    <>
      {hints < most ? (
        <button type="button" onClick={onHint}>
          {hints === 0 ? "Give a hint" : "Give another hint"}
        </button>
      ) : (
        <button type="button" onClick={showSolution}>
          Show a solution
        </button>
      )}
      <button type="button" class="quiet" onClick={startAgain}>
        Start again
      </button>
      <span class="tour-turn">
        <button type="button" disabled={before === undefined} onClick={() => before && void openLesson(before)}>
          Previous
        </button>
        {after === undefined ? (
          <button type="button" class={isFulfilled.value ? "main" : ""} onClick={() => void endTour()}>
            Back to my rules
          </button>
        ) : (
          <button type="button" class={isFulfilled.value ? "main" : ""} onClick={() => void openLesson(after)}>
            Next
          </button>
        )}
      </span>
    </>
  );
}

/** Each frame of the task, with a mark whether it came where it must. */
function Check(): JSX.Element {
  const all = checked.value;
  return (
    <div class="tour-check">
      <p role="status">{stateText(all)}</p>
      <ul aria-label="What should happen">
        {(all ?? []).map(({ expected: { frame, verdict, to = [] }, isMet }, i) => (
          <li key={frame} data-met={isMet}>
            <span role="img" aria-label={isMet ? "so" : "not so"}>
              {isMet ? "✓" : "○"}
            </span>
            <button type="button" class="quiet" onClick={() => (selectedFrame.value = i + 1)}>
              {frame}
            </button>
            {!isMet && <span class="muted">must</span>}
            <Verdict verdict={verdict} />
            {to.length > 0 && <span class="mono">{to.join(", ")}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function stateText(all: readonly Checked[] | null): string {
  if (isAnother.value) return "The frames or queues no longer match the lesson: start again, or undo the change.";
  if (all === null) return "The rules have an error, or are being steered.";
  if (isFulfilled.value) return "Done.";
  return `${all.filter(({ isMet }) => isMet).length} of ${all.length} frames go where they should.`;
}

/** A text whose names, between back quotes, are set as code. */
function withCode(text: string): JSX.Element[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : <span key={i}>{part}</span>));
}
