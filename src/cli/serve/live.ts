/** The live view of a served device: rates, drawn again each second on a terminal, else a line for each second. */
import { grouped, painter, printable, table, type Paint } from "../text.js";
import { ratesOf, type Rate, type Rates, type Reading } from "./rates.js";

/** Where the view is drawn. */
export interface LiveStream {
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

/** Calls something each second. @returns a function that ends this */
export type EverySecond = (work: () => void) => () => void;

const MEGA = 1e6;
/** The size of a terminal that does not say its own. */
const [COLUMNS, ROWS] = [80, 24];
/** Names in a line. */
const MAX_NAMES = 5;

export class LiveView {
  readonly #read: () => Reading;
  readonly #stream: LiveStream;
  readonly #json: boolean;
  readonly #paint: Paint;
  #before: Reading;
  #rates: Rates | null = null;
  /** Lines of the view on the terminal. */
  #drawn = 0;
  #stop: (() => void) | null = null;

  /**
   * @param read counts as they are
   * @param json lines of JSON
   */
  constructor(read: () => Reading, stream: LiveStream, json: boolean) {
    this.#read = read;
    this.#stream = stream;
    this.#json = json;
    this.#paint = painter(stream);
    this.#before = read();
  }

  begin(every: EverySecond = everySecond): void {
    this.#stop = every(() => this.#next());
  }

  /** Writes other text above the view. */
  write(text: string): void {
    this.#erase();
    this.#stream.write(text);
    this.#draw();
  }

  /** The last view stays on the terminal. */
  end(): void {
    this.#stop?.();
    this.#stop = null;
    this.#rates = null;
    this.#drawn = 0;
  }

  #next(): void {
    const now = this.#read();
    const rates = ratesOf(this.#before, now);
    this.#before = now;
    if (this.#redraws) {
      this.#erase();
      this.#rates = rates;
      this.#draw();
    } else if (isBusy(rates)) {
      this.#stream.write(this.#json ? `${JSON.stringify({ kind: "live", ...rates })}\n` : lineText(rates));
    }
  }

  get #redraws(): boolean {
    return this.#stream.isTTY === true && !this.#json;
  }

  #erase(): void {
    // Up to the first line of the view, and all from there on.
    if (this.#drawn > 0) this.#stream.write(`\u001b[${this.#drawn}A\r\u001b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (this.#rates === null || !this.#redraws) return;
    const { columns = COLUMNS, rows = ROWS } = this.#stream;
    const lines = viewLines(this.#paint, this.#rates, columns, rows - 1);
    this.#drawn = lines.length;
    this.#stream.write(lines.map((line) => `${line}\n`).join(""));
  }
}

function everySecond(work: () => void): () => void {
  const timer = setInterval(work, 1000);
  return () => clearInterval(timer);
}

function isBusy({ in: into, rules, dropped, lost }: Rates): boolean {
  return [into, rules, dropped, lost].some((all) => all.some(({ framesPerSecond }) => framesPerSecond > 0));
}

function lineText({ seconds, in: into, out, rules, dropped, lost }: Rates): string {
  const parts = [`${seconds.toFixed(1)} s: ${perSecond(sum(into))} in, ${perSecond(sum(out))} out`];
  for (const [what, rates] of [
    ["rules", rules],
    ["dropped", dropped],
    ["lost", lost],
  ] as const) {
    const busy = rates.filter(({ framesPerSecond }) => framesPerSecond > 0);
    if (busy.length === 0) continue;
    const named = busy.slice(0, MAX_NAMES).map(({ name, framesPerSecond }) => `${name} ${perSecond(framesPerSecond)}`);
    if (busy.length > MAX_NAMES) named.push(`${busy.length - MAX_NAMES} more`);
    parts.push(`${what}: ${named.join(", ")}`);
  }
  return `${printable(parts.join("; "))}\n`;
}

function perSecond(frames: number): string {
  return `${grouped(Math.round(frames))}/s`;
}

function sum(rates: readonly Rate[]): number {
  return rates.reduce((all, { framesPerSecond }) => all + framesPerSecond, 0);
}

/** The view as lines that fit: rules that have the most frames come first, others have no place. */
function viewLines(paint: Paint, rates: Rates, columns: number, rows: number): string[] {
  const { seconds, in: into, out, rules, dropped, lost } = rates;
  const head = `${grouped(Math.floor(seconds))} s: ${perSecond(sum(into))} in, ${perSecond(sum(out))} out`;
  const below = [
    ...section(paint, "Dropped", dropped, columns),
    ...section(paint, "Lost by wires", lost, columns, false),
  ];
  const room = Math.max(1, rows - below.length - 3);
  const shown = rules.slice(0, rules.length > room ? room - 1 : room);
  const above = section(paint, "Rule", shown, columns);
  if (shown.length < rules.length) above.push(cut(`and ${grouped(rules.length - shown.length)} more rules`, columns));
  return [cut(head, columns), ...above, ...below].slice(0, rows);
}

/** Columns that numbers take beside the name. */
const NUMBERS = 40;
const MIN_NAME = 12;

function section(paint: Paint, title: string, rates: readonly Rate[], columns: number, hasBits = true): string[] {
  if (rates.length === 0) return [];
  const right = (name: string): { title: string; right: true } => ({ title: name, right: true });
  const heads = [{ title }, right("frames/s"), ...(hasBits ? [right("Mbit/s")] : []), right("frames")];
  const rows = rates.map(({ name, framesPerSecond, bitsPerSecond, frames }) => {
    const bits = hasBits ? [(bitsPerSecond / MEGA).toFixed(1)] : [];
    const cells = [
      cut(printable(name), Math.max(MIN_NAME, columns - NUMBERS)),
      ...[grouped(Math.round(framesPerSecond)), ...bits, grouped(frames)],
    ];
    return framesPerSecond > 0 ? { cells } : { cells, style: "dim" as const };
  });
  return ["", ...table(paint, heads, rows).trimEnd().split("\n")];
}

/** A line that is not broken by the terminal. */
function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
