/** The answers of meters over time: a chart for each, and the same as a table. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MeterSeries } from "../engine/api.js";
import { counted, countText, timeText } from "../parts/format.js";
import { Limited } from "./limited.js";
import type { MeterChart } from "./meterChart.js";

/** Charts that are drawn before more are asked for. */
const CHARTS = 4;

export function Meters({ meters }: { readonly meters: readonly MeterSeries[] }): JSX.Element | null {
  if (meters.length === 0) return null;
  return (
    <section class="meters" aria-labelledby="totals-meters">
      <h3 id="totals-meters">Meters over time</h3>
      <Limited
        items={meters}
        noun="meter"
        step={CHARTS}
        list={(some) => (
          <>
            {some.map((series) => (
              <Chart key={series.name} series={series} what={`meter ${series.name}`} />
            ))}
          </>
        )}
      />
    </section>
  );
}

interface ChartProps {
  readonly series: MeterSeries;
  /** Whose answers they are: `meter one`. */
  readonly what: string;
  /** Called with the beginning and the end of an interval whose frames are to be shown. */
  readonly onShow?: (from: number, to: number) => void;
}

export function Chart({ series, what, onShow }: ChartProps): JSX.Element {
  const { name, times } = series;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<MeterChart | null>(null);
  /** The interval that is looked at; null for all of them. */
  const [place, setPlace] = useState<number | null>(null);
  useEffect(() => {
    let gone = false;
    setPlace(null);
    void import("./meterChart.js").then(({ drawMeter }) => {
      if (!gone && host.current !== null) chart.current = drawMeter(host.current, series, setPlace);
    });
    return () => {
      gone = true;
      chart.current?.close();
      chart.current = null;
    };
  }, [series]);
  const answers = answersAt(series, place);
  return (
    <figure class="meter">
      <figcaption>
        <code>{name}</code> <span class="muted">{whenText(series, place)}</span>
      </figcaption>
      <ul class="legend" aria-label={`Answers of ${what}`}>
        {answers.map(([answer, frames]) => (
          <li key={answer} data-answer={answer}>
            {answer} {countText(frames)}
          </li>
        ))}
      </ul>
      <div ref={host} class="meter-chart" role="img" aria-label={`Frames by answer of ${what} over time`} />
      {times.length > 1 && (
        <input
          type="range"
          min={0}
          max={times.length - 1}
          value={place ?? 0}
          aria-label={`Interval of ${what}`}
          aria-valuetext={`${whenText(series, place)}: ${answers.map(([answer, frames]) => `${answer} ${counted(frames, "frame")}`).join(", ")}`}
          onInput={(event) => {
            const next = Number(event.currentTarget.value);
            setPlace(next);
            chart.current?.show(next);
          }}
        />
      )}
      {place !== null && onShow !== undefined && (
        <button type="button" onClick={() => onShow(times[place - 1] ?? 0, times[place] ?? 0)}>
          Show these frames
        </button>
      )}
      <details>
        <summary>As a table</summary>
        <SeriesTable series={series} what={what} />
      </details>
    </figure>
  );
}

/** Frames by answer in an interval, or in all of them. */
function answersAt({ answers }: MeterSeries, place: number | null): [answer: string, frames: number][] {
  return Object.entries(answers).map(([answer, frames]) => [
    answer,
    place === null ? frames.reduce((sum, one) => sum + one, 0) : (frames[place] ?? 0),
  ]);
}

/** `all frames`, `frames from 0.5 ms to 1 ms`. */
function whenText({ times }: MeterSeries, place: number | null): string {
  if (place === null) return "all frames";
  return `frames from ${timeText(times[place - 1] ?? 0)} to ${timeText(times[place] ?? 0)}`;
}

function SeriesTable({ series: { times, answers }, what }: ChartProps): JSX.Element {
  const columns = Object.entries(answers);
  return (
    <Limited
      items={times}
      noun="interval"
      list={(some) => (
        <table aria-label={`Answers of ${what} over time`}>
          <thead>
            <tr>
              <th scope="col" class="number">
                Until
              </th>
              {columns.map(([answer]) => (
                <th key={answer} scope="col" class="number">
                  {answer}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {some.map((time, i) => (
              <tr key={time}>
                <th scope="row" class="number">
                  {timeText(time)}
                </th>
                {columns.map(([answer, frames]) => (
                  <td key={answer} class="number">
                    {countText(frames[i] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    />
  );
}
