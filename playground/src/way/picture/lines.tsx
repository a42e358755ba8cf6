/** The lines of the picture: where rules lead, and above them the path of the frame. */
import type { JSX } from "preact";
import { selectedPath, selectedStep } from "../../state/selection.js";
import { graph, route } from "../view.js";
import type { Layout } from "./layout.js";

export function Lines({ placed }: { readonly placed: Layout }): JSX.Element {
  return (
    <>
      <g class="edges" aria-hidden="true">
        {graph.value?.edges.map(({ from, to }) => (
          <path
            key={`${from.node} ${from.row} ${to}`}
            d={placed.line(from, { node: to, row: null })}
            data-selected={isSelected(from.row) || undefined}
          />
        ))}
      </g>
      <Way placed={placed} />
    </>
  );
}

function isSelected(row: string | null): boolean {
  const path = selectedPath.value;
  return path !== null && row !== null && row.startsWith(`${path} `);
}

/** Hops up to the selected step are drawn full, later ones pale. */
function Way({ placed }: { readonly placed: Layout }): JSX.Element | null {
  const found = route.value;
  if (found === null) return null;
  return (
    <g class="way-line" aria-hidden="true">
      {found.hops.map(({ from, to, step, copy }, i) => (
        <g key={i} data-copy={copy || undefined} data-later={step > selectedStep.value || undefined}>
          <path d={placed.line(from, to)} />
          <Arrow path={placed.line(from, to)} />
        </g>
      ))}
    </g>
  );
}

/** A head at the end of a line that arrives level. */
function Arrow({ path }: { readonly path: string }): JSX.Element | null {
  const [x, y] = path
    .split(/[ MCLH]/)
    .slice(-2)
    .map(Number);
  if (x === undefined || y === undefined || Number.isNaN(x + y)) return null;
  return <path class="arrow" d={`M${x} ${y}l-7 -4v8z`} />;
}
