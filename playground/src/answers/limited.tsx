/** The beginning of a long list, with a button for more of it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { countText } from "../parts/format.js";

const STEP = 100;

interface LimitedProps<T> {
  readonly items: readonly T[];
  /** One of them: "rule". */
  readonly noun: string;
  /** How many more are shown at a time. */
  readonly step?: number;
  readonly list: (shown: readonly T[]) => JSX.Element;
}

export function Limited<T>({ items, noun, step = STEP, list }: LimitedProps<T>): JSX.Element {
  const [most, setMost] = useState(step);
  const more = Math.min(step, items.length - most);
  return (
    <>
      {list(items.slice(0, most))}
      {more > 0 && (
        <p class="more">
          <span class="muted">{`${countText(most)} of ${countText(items.length)} ${noun}s`}</span>{" "}
          <button type="button" onClick={() => setMost(most + step)}>
            {`Show ${countText(more)} more`}
          </button>
        </p>
      )}
    </>
  );
}
