/** The speed page: the benchmark suites in this browser, beside plain JavaScript in the same run. */
import { signal } from "@preact/signals";
import { proxy, wrap } from "comlink";
import { render, type JSX } from "preact";
import type { Figure } from "./measure.js";
import {
  machineOf,
  machineText,
  markdown,
  nanosecondsText,
  ratioText,
  spreadText,
  type Machine,
  type SpeedReport,
} from "./report.js";
import type { SpeedWorker } from "./worker.js";

declare const FLOWSTEER_VERSION: string;

const figures = signal<readonly Figure[]>([]);
const machine = signal<Machine | null>(null);
const state = signal("Not measured yet");
const running = signal<Worker | null>(null);
const copied = signal("");

const QUICK = new URLSearchParams(location.search).has("quick");
/** The widest bar of a suite stands for this ratio or the greatest one, whichever is more. */
const MIN_SCALE = 5;

async function start(): Promise<void> {
  const worker = new Worker(new URL("./speed-worker.js", import.meta.url), { type: "module" });
  const remote = wrap<SpeedWorker>(worker);
  running.value = worker;
  figures.value = [];
  copied.value = "";
  worker.addEventListener("error", ({ message }) => end(`Failed: ${message}`));
  try {
    machine.value = machineOf(navigator, await remote.clockStep());
    await remote.run(
      QUICK,
      proxy((name: string, number: number, of: number) => {
        state.value = `Measuring ${number} of ${of}: ${name}`;
      }),
      proxy((added: readonly Figure[]) => {
        figures.value = [...figures.value, ...added];
      }),
    );
    end("Done. All answers equal those of plain JavaScript.");
  } catch (error) {
    end(`Failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function end(text: string): void {
  running.value?.terminate();
  running.value = null;
  state.value = text;
}

async function copy(as: (report: SpeedReport) => string): Promise<void> {
  if (machine.value === null) return;
  const date = new Date().toISOString().slice(0, 10);
  const text = as({ date, version: FLOWSTEER_VERSION, machine: machine.value, figures: figures.value });
  try {
    await navigator.clipboard.writeText(text);
    copied.value = "Copied.";
  } catch {
    copied.value = "The browser blocked the copy.";
  }
}

function Page(): JSX.Element {
  const done = running.value === null && figures.value.length > 0;
  return (
    <>
      <h1>Speed in this browser</h1>
      <p>
        The benchmark suites of flowsteer, each beside plain JavaScript for the same job in the same run. Both give the
        same answers, or nothing is timed. It takes about half a minute.
      </p>
      <p class="speed-buttons">
        {running.value === null ? (
          <button class="main" onClick={() => void start()}>
            {figures.value.length === 0 ? "Measure" : "Measure again"}
          </button>
        ) : (
          <button onClick={() => end("Stopped.")}>Stop</button>
        )}
        <button disabled={!done} onClick={() => void copy(markdown)}>
          Copy result
        </button>
        <button disabled={!done} onClick={() => void copy((report) => JSON.stringify(report, null, 2))}>
          Copy as JSON
        </button>
        <span role="status">{copied.value}</span>
      </p>
      <p role="status">{state.value}</p>
      {machine.value !== null && <p class="muted">{machineText(machine.value)}</p>}
      {[...new Set(figures.value.map(({ suite }) => suite))].map((suite) => (
        <Suite key={suite} suite={suite} />
      ))}
    </>
  );
}

function Suite({ suite }: { readonly suite: string }): JSX.Element {
  const rows = figures.value.filter((one) => one.suite === suite);
  const most = Math.max(MIN_SCALE, ...rows.map(({ ratio }) => ratio ?? 0));
  return (
    <section class="speed-suite">
      <h2>{suite}</h2>
      <div class="speed-scroll" tabIndex={0} role="region" aria-label={`Figures: ${suite}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Workload</th>
              <th scope="col">Case</th>
              <th scope="col">Time</th>
              <th scope="col">Times plain JavaScript</th>
              <th scope="col">Rounds</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one, i) => (
              <tr key={`${one.workload} ${one.name}`} class={one.peer ? "muted" : ""}>
                <td>{rows[i - 1]?.workload === one.workload ? "" : one.workload}</td>
                <td>{one.name}</td>
                <td class="number">
                  {nanosecondsText(one.nanoseconds)} / {one.unit}
                </td>
                <td>
                  {one.ratio !== null && (
                    <span class="speed-ratio">
                      <span class="speed-bar" style={{ width: `${(100 * one.ratio) / most}%` }} aria-hidden="true" />
                      {ratioText(one.ratio)}
                    </span>
                  )}
                </td>
                <td class="number">{one.spread === null ? "" : spreadText(one.spread)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const root = document.querySelector("#speed");
if (root === null) throw new Error("the page has no #speed");
render(<Page />, root);
