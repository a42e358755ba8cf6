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
  const { name, times, answers } = series;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<MeterChart | null>(null);
  const [at, setAt] = useState(times.length - 1);
  const place = Math.min(at, times.length - 1);
  useEffect(() => {
    let gone = false;
    void import("./meterChart.js").then(({ drawMeter }) => {
      if (!gone && host.current !== null) chart.current = drawMeter(host.current, series, setAt);
    });
    return () => {
      gone = true;
      chart.current?.close();
      chart.current = null;
    };
  }, [series]);
  return (
    <figure class="meter">
      <figcaption>
        <code>{name}</code> <span class="muted">{`frames until ${timeText(times[place] ?? 0)}`}</span>
      </figcaption>
      <ul class="legend" aria-label={`Answers of meter ${name}`}>
        {Object.entries(answers).map(([answer, frames]) => (
          <li key={answer} data-answer={answer}>
            {answer} {countText(frames[place] ?? 0)}
          </li>
        ))}
      </ul>
      <div ref={host} class="meter-chart" role="img" aria-label={`Frames by answer of meter ${name} over time`} />
      {times.length > 1 && (
        <input
          type="range"
          min={0}
          max={times.length - 1}
          value={place}
          aria-label={`Interval of meter ${name}`}
          aria-valuetext={intervalText(series, place)}
          onInput={(event) => {
            const next = Number(event.currentTarget.value);
            setAt(next);
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

/** `until 0.5 ms: green 3 frames, red 1 frame`. */
function intervalText({ times, answers }: MeterSeries, place: number): string {
  const parts = Object.entries(answers).map(([answer, frames]) => `${answer} ${counted(frames[place] ?? 0, "frame")}`);
  return `until ${timeText(times[place] ?? 0)}: ${parts.join(", ")}`;
}
