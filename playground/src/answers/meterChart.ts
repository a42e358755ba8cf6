/** The chart of a meter, by uPlot: loaded with the first meter that is shown. */
import uPlot, { type Options, type Series } from "uplot";
import type { MeterSeries } from "../engine/api.js";
import { timeText } from "../parts/format.js";

export interface MeterChart {
  /** Moves the cursor to an interval. */
  show(place: number): void;
  close(): void;
}

const HEIGHT = 140;

/** Colours by token and dashes by answer: lines differ without colour too. */
const LINES: Readonly<Record<string, readonly [token: string, dash: number[]]>> = {
  green: ["--deliver-fill", []],
  yellow: ["--miss-fill", [8, 4]],
  red: ["--drop-fill", [2, 3]],
  deliver: ["--deliver-fill", []],
  forward: ["--forward-fill", [12, 3, 2, 3]],
  transmit: ["--forward-fill", [1, 4]],
  drop: ["--drop-fill", [2, 3]],
  miss: ["--miss-fill", [8, 4]],
};
const OTHERS: readonly (readonly [token: string, dash: number[]])[] = [
  ["--forward-fill", [12, 3, 2, 3]],
  ["--copy-fill", [1, 4]],
];

/** @param moved called with the interval at the cursor, and with null when the cursor leaves */
export function drawMeter(host: HTMLElement, series: MeterSeries, moved: (place: number | null) => void): MeterChart {
  const { times, answers } = series;
  const names = Object.keys(answers);
  const data: [number[], ...number[][]] = [[...times], ...names.map((name) => [...(answers[name] ?? [])])];
  const plot = new uPlot(optionsOf(host, names, times.length, moved), data, host);
  const sized = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT }));
  sized.observe(host);
  const redraw = (): void => plot.redraw();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const themed = new MutationObserver(redraw);
  dark.addEventListener("change", redraw);
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return {
    show: (place) =>
      plot.setCursor({ left: plot.valToPos(times[place] ?? 0, "x"), top: plot.over.clientHeight / 2 }, false),
    close: () => {
      sized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", redraw);
      plot.destroy();
    },
  };
}

function optionsOf(
  host: HTMLElement,
  names: readonly string[],
  intervals: number,
  moved: (place: number | null) => void,
): Options {
  const colour = (token: string) => (): string => colourOf(host, token);
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  return {
    width: host.clientWidth,
    height: HEIGHT,
    scales: { x: { time: false }, y: { range: (_plot, _least, most) => [0, Math.max(1, most)] } },
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    series: [{}, ...names.map((name, i): Series => lineOf(name, i, colour, intervals))],
    axes: [
      {
        ...axis,
        font,
        size: 24,
        values: (_plot, ticks) => ticks.map(timeText),
      },
      { ...axis, font, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6] },
    ],
    hooks: {
      setCursor: [({ cursor: { idx } }) => moved(idx ?? null)],
    },
  };
}

function lineOf(name: string, i: number, colour: (token: string) => () => string, intervals: number): Series {
  const [token, dash] = LINES[name] ?? OTHERS[i % OTHERS.length] ?? ["--text", []];
  return { label: name, stroke: colour(token), width: 2, dash, points: { show: intervals < 50, size: 5 } };
}

/** A token may be `light-dark(...)`, which only a property of an element resolves. */
function colourOf(host: HTMLElement, token: string): string {
  host.style.borderColor = `var(${token})`;
  return getComputedStyle(host).borderTopColor;
}
