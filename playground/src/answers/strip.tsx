/** The strip at the bottom of the page: verdicts, hits by rule, what changed, and how much was steered. */
import type { JSX } from "preact";
import type { Answer, Totals } from "../engine/api.js";
import { VERDICTS } from "../engine/verdicts.js";
import { bytesText, counted, countText, sharesText, tookText } from "../parts/format.js";
import { FillButton } from "../parts/fillButton.js";
import { SHAPES, UNCLAIMED } from "../parts/verdict.js";
import { answer, refusals, stale } from "../state/answer.js";
import { felt } from "../state/felt.js";
import { totalsOpen } from "../state/view.js";
import { Comparison } from "./compare/comparison.js";
import { failedCount } from "./expectationPath.js";
import { isFiltered, toggleFilter } from "./filtering.js";
import { HitsLine } from "./hitsLine.js";

export function Strip(): JSX.Element {
  const all = answer.value;
  return (
    <div class="strip">
      <h2 id="pane-totals">
        <button
          type="button"
          class="quiet"
          aria-expanded={totalsOpen.value}
          onClick={() => (totalsOpen.value = !totalsOpen.value)}
        >
          <span aria-hidden="true">{totalsOpen.value ? "▾" : "▴"}</span> Totals
        </button>
      </h2>
      {all?.totals ? <Results all={all} totals={all.totals} /> : <p class="muted">{emptyText()}</p>}
    </div>
  );
}

function emptyText(): string {
  if (refusals.value.length > 0) return "No totals: the rules have an error.";
  return "Once rules are loaded, this shows where frames go and which rules they hit.";
}

function Results({ all, totals }: { readonly all: Answer; readonly totals: Totals }): JSX.Element {
  return (
    <>
      {stale.value && <p class="stale-note">From the last rules without errors</p>}
      {all.frames === 0 ? (
        <p class="muted">No frames: open a capture or build a packet to see totals here.</p>
      ) : (
        <>
          <Verdicts totals={totals} />
          <Unclaimed frames={all.unclaimed} />
          <HitsLine totals={totals} />
        </>
      )}
      <div class="strip-end">
        {totals.failures.length > 0 && (
          <button type="button" class="quiet fails" onClick={() => (totalsOpen.value = true)}>
            <span aria-hidden="true">✕</span> {`${counted(failedCount(totals.failures), "expectation")} not met`}
          </button>
        )}
        <Comparison all={all} />
        <p class="amount muted" title="The time is from the last input to the painted answer.">
          {amountText(all, totals)}
        </p>
        <FillButton pane="totals" />
      </div>
      <p class="visually-hidden" role="status">
        {verdictsText(totals)}
      </p>
    </>
  );
}

function Verdicts({ totals }: { readonly totals: Totals }): JSX.Element {
  const found = VERDICTS.filter((verdict) => totals.verdicts[verdict].frames > 0);
  const shares = sharesText(
    found.map((verdict) => totals.verdicts[verdict].frames),
    totals.frames,
  );
  return (
    <ul class="verdicts" aria-label="Frames by verdict">
      {found.map((verdict, i) => {
        const { frames } = totals.verdicts[verdict];
        return (
          <li key={verdict} style={{ flexGrow: frames / totals.frames }}>
            <button
              type="button"
              class="verdict"
              data-verdict={verdict}
              aria-pressed={isFiltered({ verdicts: [verdict] })}
              onClick={() => toggleFilter({ verdicts: [verdict] })}
            >
              <span aria-hidden="true">{SHAPES[verdict]}</span> {verdict} <b>{countText(frames)}</b>{" "}
              <span class="visually-hidden">{frames === 1 ? "frame" : "frames"},</span>{" "}
              <span class="share">{shares[i]}</span>
              <span class="visually-hidden">Show only these</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Frames that look delivered, and that no rule took. */
function Unclaimed({ frames }: { readonly frames: number }): JSX.Element | null {
  if (frames === 0) return null;
  const filter = { fields: "fs.unclaimed" };
  return (
    <button
      type="button"
      class="verdict"
      data-unclaimed
      aria-pressed={isFiltered(filter)}
      title="No rule took these frames but the driver's own"
      onClick={() => toggleFilter(filter)}
    >
      <span aria-hidden="true">{UNCLAIMED}</span> no rule took <b>{countText(frames)}</b>
    </button>
  );
}

/** How much was steered, and how long that took as it was felt. */
export function amountText({ frames }: Answer, totals: Totals): string {
  const left = frames - totals.frames;
  const took = felt.value === null ? [] : [tookText(felt.value)];
  const parts = [counted(totals.frames, "frame"), bytesText(totals.bytes), ...took];
  if (left > 0) parts.splice(1, 0, `${countText(left)} not steered`);
  return parts.join(" · ");
}

function verdictsText(totals: Totals): string {
  const found = VERDICTS.filter((verdict) => totals.verdicts[verdict].frames > 0);
  return found.map((verdict) => `${verdict} ${countText(totals.verdicts[verdict].frames)}`).join(", ");
}
