/** The report of `flowsteer run`. */
import type { EndSum, Failure, LoadedScenario, Sum } from "../../scenario/index.js";
import type { SourceElement } from "../../import/index.js";
import { wordsOf } from "./elements.js";
import { flowCounters, flowEntries, flows, neverHit } from "./flows.js";
import { lostCopies, reasonText, whyText } from "./reasons.js";
import { answers, holdings } from "./state.js";
import { counted, grouped, printable, share, table, type Column, type Paint, type Row, type Style } from "../text.js";

const NUMBERS: readonly Column[] = [
  { title: "frames", right: true },
  { title: "bytes", right: true },
];

const PLAIN_DOMAIN = "nic_rx";

/** The elements of rules that were imported, by the names of the rules; null for a scenario. */
export type Elements = ReadonlyMap<string, SourceElement> | null;

/** Frames that were read and not steered, by cause. */
export type Skipped = ReadonlyMap<string, Sum>;

export function reportText(
  paint: Paint,
  loaded: LoadedScenario,
  sources: string,
  skipped: Skipped,
  elements: Elements = null,
): string {
  const { frames, bytes } = total(loaded, skipped);
  const { title } = loaded.scenario;
  const head = `${title === undefined ? "" : `${paint("bold", printable(title))}\n`}${counted(frames, "frame")}, ${counted(bytes, "byte")} ${sources}\n`;
  const parts = [
    head,
    ends(paint, loaded, skipped),
    copies(paint, loaded),
    copiesLost(paint, loaded),
    beyond(paint, loaded),
    rewritten(paint, loaded),
    registers(paint, loaded),
    rules(paint, loaded, elements),
    flows(paint, loaded),
    flowEntries(paint, loaded),
    answers(paint, loaded),
    holdings(paint, loaded),
    counters(paint, loaded),
    flowCounters(paint, loaded),
    buffers(paint, loaded),
    messages(paint, loaded),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function total({ tally }: LoadedScenario, skipped: Skipped): Sum {
  const sum = { ...tally.all };
  for (const { frames, bytes } of skipped.values()) {
    sum.frames += frames;
    sum.bytes += bytes;
  }
  return sum;
}

function ends(paint: Paint, loaded: LoadedScenario, skipped: Skipped): string {
  const all = total(loaded, skipped);
  const row = (to: string, why: string, sum: Sum, style?: Row["style"]): Row => ({
    cells: [printable(to), grouped(sum.frames), grouped(sum.bytes), share(sum.frames, all.frames), why],
    ...(style === undefined ? {} : { style }),
  });
  const found = [...loaded.tally.ends].sort(
    (a, b) => Number(a.to === null) - Number(b.to === null) || b.frames - a.frames,
  );
  const rows = found.map((end) => row(end.to ?? end.verdict, whyText(loaded, end), end, styleOf(end)));
  for (const [why, sum] of skipped) rows.push(row("not parsed", why, sum, "dim"));
  const columns: Column[] = [{ title: "Destination" }, ...NUMBERS, { title: "share", right: true }, { title: "" }];
  return table(paint, columns, rows);
}

function styleOf({ to, verdict }: EndSum): Style {
  if (to !== null) return "green";
  return verdict === "drop" ? "red" : "yellow";
}

function copies(paint: Paint, { tally }: LoadedScenario): string {
  const rows = [...tally.copies].map(([to, { frames, bytes }]): Row => {
    return { cells: [printable(to), grouped(frames), grouped(bytes)] };
  });
  return rows.length === 0 ? "" : table(paint, [{ title: "Copies" }, ...NUMBERS], rows);
}

function copiesLost(paint: Paint, loaded: LoadedScenario): string {
  const rows = [...lostCopies(loaded)].map(([reason, count]): Row => {
    return { cells: [reasonText(reason), grouped(count)], style: "red" };
  });
  return rows.length === 0 ? "" : table(paint, [{ title: "Copies lost" }, { title: "copies", right: true }], rows);
}

/** Outcomes at the ports where frames arrived next. */
function beyond(paint: Paint, loaded: LoadedScenario): string {
  const { tally } = loaded;
  if (tally.beyond.length === 0) return "";
  const rows = tally.beyond.map((end): Row => {
    const { port, to, verdict, frames, bytes } = end;
    const cells = [port, printable(to ?? verdict), grouped(frames), grouped(bytes), whyText(loaded, end)];
    return { cells, style: styleOf(end) };
  });
  return table(paint, [{ title: "Left by" }, { title: "destination" }, ...NUMBERS, { title: "" }], rows);
}

/** Destinations where frames arrived with changed bytes. */
function rewritten(paint: Paint, { tally }: LoadedScenario): string {
  const rows = [...tally.rewritten].map(([to, { frames, bytes }]): Row => {
    return { cells: [printable(to), grouped(frames), grouped(bytes)] };
  });
  return rows.length === 0 ? "" : table(paint, [{ title: "Rewritten" }, ...NUMBERS], rows);
}

/** Values of a register that are listed. */
const SHOWN_VALUES = 4;

function registers(paint: Paint, { tally }: LoadedScenario): string {
  const rows = [...tally.registers].map(([name, { frames, values }]): Row => {
    const shown = [...values.keys()].slice(0, SHOWN_VALUES).map(String);
    if (values.size > SHOWN_VALUES) shown.push(`and ${grouped(values.size - SHOWN_VALUES)} more`);
    return { cells: [name, grouped(frames), shown.join(", ")] };
  });
  const columns: Column[] = [{ title: "Register" }, { title: "frames", right: true }, { title: "values" }];
  return rows.length === 0 ? "" : table(paint, columns, rows);
}

function rules(paint: Paint, loaded: LoadedScenario, elements: Elements): string {
  const all = loaded.rulesByRank();
  if (all.length === 0) return "";
  // The domain is left out where all rules are of the PF and for received frames.
  const domains = all.some(({ matcher }) => matcher.table.domain.name !== PLAIN_DOMAIN);
  let before: (typeof all)[number]["matcher"]["table"] | undefined;
  const rows = all.map((rule): Row => {
    const { frames, bytes } = loaded.tally.rule(rule);
    const { table: place, priority } = rule.matcher;
    const element = elements?.get(rule.name);
    const cells = [
      ...(domains ? [place.domain === before?.domain ? "" : place.domain.name] : []),
      place === before ? "" : printable(place.name),
      String(priority),
      printable(rule.name),
      grouped(frames),
      grouped(bytes),
      frames === 0 ? neverHit(loaded) : "",
      ...(element === undefined ? [] : [wordsOf(element)]),
    ];
    before = place;
    return frames === 0 ? { cells, style: "dim" } : { cells };
  });
  const columns: Column[] = [
    ...(domains ? [{ title: "Domain" }] : []),
    { title: "Table" },
    // A driver computes it from the one in the text.
    { title: elements === null ? "priority" : "device priority", right: true },
    { title: "rule" },
    ...NUMBERS,
    { title: "" },
    ...(elements === null ? [] : [{ title: "words" }]),
  ];
  return table(paint, columns, rows);
}

function counters(paint: Paint, { counters: all }: LoadedScenario): string {
  if (all.size === 0) return "";
  const rows = [...all].flatMap(([name, counter]): Row[] => {
    const row = (offset: number, called: string): Row => {
      const { packets, bytes } = counter.read(offset);
      return { cells: [printable(called), grouped(packets), grouped(bytes)] };
    };
    if (counter.size === 1) return [row(0, name)];
    // Of a bulk, the counters that are not zero.
    const counted = Array.from({ length: counter.size }, (_, n) => n).filter((n) => counter.read(n).packets > 0n);
    if (counted.length === 0) return [row(0, `${name}[0 to ${counter.size - 1}]`)];
    return counted.map((n) => row(n, `${name}[${n}]`));
  });
  return table(paint, [{ title: "Counter" }, ...NUMBERS], rows);
}

function buffers(paint: Paint, { queues }: LoadedScenario): string {
  const rows = [...queues.values()].flatMap(({ name, buffers: held }): Row[] => {
    if (held === null) return [];
    const { posted, completed, failed } = held;
    return [{ cells: [printable(name), ...[posted, completed, failed, posted - completed - failed].map(grouped)] }];
  });
  if (rows.length === 0) return "";
  const numbers = ["posted", "completed", "failed", "left"].map((title) => ({ title, right: true }));
  return table(paint, [{ title: "Receive buffers" }, ...numbers], rows);
}

function messages(paint: Paint, { scenario, messages: records }: LoadedScenario): string {
  const rows = records.map(({ message, queue, len, status, received }): Row => {
    const called = scenario.messages?.[message - 1]?.name ?? String(message);
    const peer = scenario.queues?.find(({ name }) => name === queue)?.peer ?? "";
    const ends = `${queue} to ${peer}`;
    return { cells: [printable(called), grouped(len), printable(ends), status, received?.status ?? "nothing"] };
  });
  if (rows.length === 0) return "";
  const columns = [
    { title: "Message" },
    { title: "bytes", right: true },
    { title: "queues" },
    { title: "sent" },
    { title: "received" },
  ];
  return table(paint, columns, rows);
}

/** Expectations that failed: what was expected, and what came. */
export function failuresText(paint: Paint, file: string, failures: readonly Failure[]): string {
  const lines = [paint(["red", "bold"], `${file}: ${counted(failures.length, "expectation")} failed`)];
  const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  for (const { path, about, what, expected, got } of failures) {
    lines.push(`  ${about}: ${what}: expected ${shown(expected)}, got ${shown(got)}  (${path})`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

export function notesText(paint: Paint, notes: readonly string[]): string {
  return notes.map((note) => `${paint("yellow", "note:")} ${printable(note)}\n`).join("");
}
