/** The pipeline as a picture, with the path of the selected frame. */
import { computed, signal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted, countText } from "../../parts/format.js";
import { registerCommands } from "../../state/commands.js";
import { selectedStep } from "../../state/selection.js";
import { graph, route } from "../view.js";
import { moveFocus } from "./focus.js";
import type { Graph } from "./graph.js";
import type { Box } from "./boxes.js";
import type { Layout } from "./layout.js";
import { Lines } from "./lines.js";
import { Node } from "./node.js";
import { PanZoom } from "./panZoom.js";

/** The layout is loaded when the picture is first drawn. */
const layouts = signal<{ readonly layoutOf: (graph: Graph) => Layout } | null>(null);

export const layout = computed((): Layout | null => {
  const [library, drawn] = [layouts.value, graph.value];
  return library === null || drawn === null ? null : library.layoutOf(drawn);
});

/** The picture is not made smaller than this by itself. */
const READABLE = 0.5;

export function Picture(): JSX.Element {
  const frame = useRef<SVGSVGElement>(null);
  const panZoom = useMemo(() => new PanZoom(), []);
  const fit = (least?: number): void => {
    const placed = layout.peek();
    if (placed !== null) panZoom.fit(placed.width, placed.height, least, currentBox(placed));
  };

  useEffect(() => {
    void import("./layout.js").then((library) => {
      layouts.value = library;
    });
    return registerCommands([
      { id: "way.fit", title: "Fit the picture", key: "f", run: () => fit() },
      { id: "way.zoomIn", title: "Enlarge the picture", key: "+", run: () => panZoom.zoom(1.25) },
      { id: "way.zoomOut", title: "Shrink the picture", key: "-", run: () => panZoom.zoom(0.8) },
    ]);
  }, []);

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const detach = panZoom.attach(element);
    const observer = new ResizeObserver(() => {
      if (!panZoom.moved) fit(READABLE);
    });
    observer.observe(element);
    return () => {
      detach();
      observer.disconnect();
    };
  }, []);

  useSignalEffect(() => {
    if (layout.value !== null && !panZoom.moved) fit(READABLE);
  });

  useSignalEffect(() => {
    const box = layout.value === null ? null : currentBox(layout.value);
    if (box !== null) panZoom.reveal(box);
  });

  return (
    <div class="picture">
      <svg
        ref={frame}
        role="group"
        aria-label={pictureLabel()}
        class={route.value === null ? undefined : "has-way"}
        onKeyDown={moveFocus}
        onClickCapture={(event) => {
          if (panZoom.dragged) event.stopPropagation();
        }}
      >
        <Scene panZoom={panZoom} />
      </svg>
      <div class="picture-tools">
        <button type="button" aria-label="Enlarge" title="Enlarge (+)" onClick={() => panZoom.zoom(1.25)}>
          +
        </button>
        <button type="button" aria-label="Shrink" title="Shrink (-)" onClick={() => panZoom.zoom(0.8)}>
          −
        </button>
        <button type="button" title="Fit the whole picture (f)" onClick={() => fit()}>
          Fit
        </button>
      </div>
      <Hidden />
    </div>
  );
}

/** Where the frame is at the selected step. */
function currentBox(placed: Layout): Box | null {
  const place = route.value?.places[selectedStep.value];
  return place === undefined ? null : (placed.nodes.get(place.node) ?? null);
}

function pictureLabel(): string {
  const tables = graph.value?.nodes.filter(({ kind }) => kind === "table").length ?? 0;
  return `Picture of the pipeline: ${counted(tables, "table")}`;
}

function Scene({ panZoom }: { readonly panZoom: PanZoom }): JSX.Element | null {
  const placed = layout.value;
  const { x, y, scale } = panZoom.view.value;
  const drawing = useMemo(() => (placed === null ? null : <Drawing placed={placed} />), [placed]);
  return <g transform={`translate(${x} ${y}) scale(${scale})`}>{drawing}</g>;
}

function Drawing({ placed }: { readonly placed: Layout }): JSX.Element {
  return (
    <>
      {placed.bands.map(({ id, title, x, y, width, height }) => (
        <g key={id} class="band">
          <rect x={x} y={y} width={width} height={height} rx="4" />
          <text x={x + 8} y={y + 13}>
            {title}
          </text>
        </g>
      ))}
      <Lines placed={placed} />
      {[...placed.nodes.values()].map((box) => (
        <Node key={box.node.id} box={box} />
      ))}
    </>
  );
}

function Hidden(): JSX.Element | null {
  const hidden = graph.value?.hidden ?? 0;
  return hidden === 0 ? null : <p class="picture-hidden">{countText(hidden)} tables and queues are not drawn</p>;
}
