/** One row of the list. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { FrameRow } from "../../engine/api.js";
import { Verdict } from "../../parts/verdict.js";
import { columns } from "./columns.js";

export const rowId = (place: number): string => `frame-row-${place}`;

interface RowProps {
  readonly place: number;
  readonly row: FrameRow | undefined;
  readonly selected: boolean;
}

/** A row that is as it was is not drawn again. */
export function Row({ place, row, selected }: RowProps): JSX.Element {
  const shown = columns.value;
  return useMemo(
    () => (
      <div
        id={rowId(place)}
        class="frame-row"
        role="row"
        aria-rowindex={place + 2}
        aria-selected={selected}
        aria-busy={row === undefined || undefined}
        data-place={place}
        data-verdict={row?.verdict ?? undefined}
        data-changed={row?.changed === true || undefined}
      >
        {row === undefined ? (
          <div class="waiting" role="gridcell" aria-colspan={shown.length}>
            …
          </div>
        ) : (
          cellsOf(row, shown)
        )}
      </div>
    ),
    [place, row, selected, shown],
  );
}

function cellsOf(row: FrameRow, shown: typeof columns.value): JSX.Element[] {
  return shown.map(({ id, text, field }) => {
    if (id === "verdict") return <VerdictCell key={id} row={row} />;
    const words = text === undefined ? (row.cells[field ?? ""] ?? "") : text(row);
    return (
      <div key={id} class={id} role="gridcell" title={id === "length" ? lengthTitle(row) : words}>
        {id === "summary" && row.name !== null && <b>{row.name} </b>}
        {words}
      </div>
    );
  });
}

function VerdictCell({ row: { verdict, unclaimed, changed } }: { readonly row: FrameRow }): JSX.Element {
  return (
    <div class="verdict-cell" role="gridcell">
      {verdict === null ? <span class="muted">not steered</span> : <Verdict verdict={verdict} unclaimed={unclaimed} />}
      {changed && (
        <span class="changed-mark" title="Its outcome has changed">
          <span aria-hidden="true">≠</span>
          <span class="visually-hidden">changed</span>
        </span>
      )}
    </div>
  );
}

function lengthTitle({ length, wireLength }: FrameRow): string | undefined {
  return length === wireLength ? undefined : `${length} of ${wireLength} bytes were captured`;
}
