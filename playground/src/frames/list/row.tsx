/** One row of the list. */
import { memo } from "preact/compat";
import type { JSX } from "preact";
import type { FrameRow } from "../../engine/api.js";
import { countText } from "../../parts/format.js";
import { Verdict } from "../../parts/verdict.js";
import { endColumn, timeColumn } from "./columns.js";

export const rowId = (place: number): string => `frame-row-${place}`;

interface RowProps {
  readonly place: number;
  readonly row: FrameRow | undefined;
  readonly selected: boolean;
}

function RowView({ place, row, selected }: RowProps): JSX.Element {
  const end = row === undefined ? "" : endColumn(row);
  return (
    <div
      id={rowId(place)}
      class="frame-row"
      role="row"
      aria-rowindex={place + 2}
      aria-selected={selected}
      aria-busy={row === undefined || undefined}
      data-place={place}
      data-changed={row?.changed === true || undefined}
    >
      {row === undefined ? (
        <div class="waiting" role="gridcell" aria-colspan={6}>
          …
        </div>
      ) : (
        <>
          <div class="number" role="gridcell">
            {countText(row.number)}
          </div>
          <div class="time" role="gridcell">
            {timeColumn(row)}
          </div>
          <div class="length" role="gridcell" title={lengthTitle(row)}>
            {row.length}
          </div>
          <div class="summary" role="gridcell" title={row.summary}>
            {row.name !== null && <b>{row.name} </b>}
            {row.summary}
          </div>
          <div class="verdict-cell" role="gridcell">
            {row.verdict === null ? (
              <span class="muted">not steered</span>
            ) : (
              <Verdict verdict={row.verdict} unclaimed={row.unclaimed} />
            )}
            {row.changed && (
              <span class="changed-mark" title="Its outcome has changed">
                <span aria-hidden="true">≠</span>
                <span class="visually-hidden">changed</span>
              </span>
            )}
          </div>
          <div class="end" role="gridcell" title={end}>
            {end}
          </div>
        </>
      )}
    </div>
  );
}

function lengthTitle({ length, wireLength }: FrameRow): string | undefined {
  return length === wireLength ? undefined : `${length} of ${wireLength} bytes were captured`;
}

export const Row = memo(RowView);
