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
              <Meter key={series.name} series={series} />
            ))}
          </>
        )}
      />
    </section>
  );
}

function Meter({ series }: { readonly series: MeterSeries }): JSX.Element {
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
      <ul class="legend" aria-label={`Answers of meter ${name}`}>
        {answers.map(([answer, frames]) => (
          <li key={answer} data-answer={answer}>
            {answer} {countText(frames)}
          </li>
        ))}
      </ul>
      <div ref={host} class="meter-chart" role="img" aria-label={`Frames by answer of meter ${name} over time`} />
      {times.length > 1 && (
        <input
          type="range"
          min={0}
          max={times.length - 1}
          value={place ?? 0}
          aria-label={`Interval of meter ${name}`}
          aria-valuetext={`${whenText(series, place)}: ${answers.map(([answer, frames]) => `${answer} ${counted(frames, "frame")}`).join(", ")}`}
          onInput={(event) => {
            const next = Number(event.currentTarget.value);
            setPlace(next);
            chart.current?.show(next);
          }}
        />
      )}
      <details>
        <summary>As a table</summary>
        <SeriesTable series={series} />
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

function SeriesTable({ series: { name, times, answers } }: { readonly series: MeterSeries }): JSX.Element {
  const columns = Object.entries(answers);
  return (
    <Limited
      items={times}
      noun="interval"
      list={(some) => (
        <table aria-label={`Meter ${name} over time`}>
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
