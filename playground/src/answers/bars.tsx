/** A list of bars. Each is a button that narrows the list of frames to its own. */
import type { ComponentChildren, JSX } from "preact";
import type { FrameFilter, Sum } from "../engine/api.js";
import { bytesText, countText, shareText } from "../parts/format.js";
import { isFiltered, toggleFilter } from "./filtering.js";
import { Limited } from "./limited.js";

export interface Bar extends Sum {
  readonly id: string;
  readonly label: ComponentChildren;
  /** The colour: a verdict or `copy`. */
  readonly tone: string;
  readonly filter: FrameFilter;
  /** One line below the bar. */
  readonly text?: string;
}

interface BarsProps {
  readonly id: string;
  readonly title: string;
  readonly bars: readonly Bar[];
  /** The number of frames that shares are of. */
  readonly whole: number;
}

export function Bars({ id, title, bars, whole }: BarsProps): JSX.Element | null {
  if (bars.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <Limited
        items={bars}
        noun="row"
        list={(shown) => (
          <ul class="bars" aria-labelledby={id}>
            {shown.map((bar) => (
              <li key={bar.id}>
                <BarButton bar={bar} whole={whole} />
                {bar.text !== undefined && <p class="muted">{bar.text}</p>}
              </li>
            ))}
          </ul>
        )}
      />
    </section>
  );
}

function BarButton({ bar, whole }: { readonly bar: Bar; readonly whole: number }): JSX.Element {
  const { label, tone, frames, bytes, filter } = bar;
  const share = shareText(frames, whole);
  return (
    <button
      type="button"
      class="bar-row"
      data-tone={tone}
      aria-pressed={isFiltered(filter)}
      title={bytesText(bytes)}
      onClick={() => toggleFilter(filter)}
    >
      <span class="bar-label">{label}</span>
      <span class="bar-count">
        {countText(frames)} <span class="visually-hidden">{frames === 1 ? "frame" : "frames"},</span>
      </span>
      <span class="bar-share">
        {share}
        <span class="visually-hidden">{`, ${bytesText(bytes)}. Show only these`}</span>
      </span>
      <span class="bar-track">
        <span style={{ width: `${whole === 0 ? 0 : (100 * frames) / whole}%` }} />
      </span>
    </button>
  );
}
