/** What V8 has executed of `src/` in this process, by its precise coverage of the bundle. */
import { readFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";
import type { Coverage } from "./coverage.js";

/** Offsets in the bundle: from the first, to before the second. */
type Span = readonly [from: number, to: number];

export class HostCoverage implements Coverage {
  readonly all = null;
  readonly #session = new Session();
  readonly #url: string;
  readonly #sources: readonly Span[];
  /** What no run has executed of a function that some run has entered, by where the function begins. */
  readonly #unreached = new Map<number, Span[]>();

  /** @param url of the bundle, whose comments say which of it is of which file */
  constructor(url: string) {
    this.#url = url;
    this.#sources = spansOf(readFileSync(fileURLToPath(url), "utf8"), /^src\//);
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: true });
    this.fresh();
  }

  /** The number of functions of `src/` that were entered. */
  get reached(): number {
    return this.#unreached.size;
  }

  fresh(): number {
    let fresh = 0;
    this.#session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error !== null) throw error;
      const functions = result.filter(({ url }) => url === this.#url).flatMap((script) => script.functions);
      for (const one of functions) if (this.#note(one)) fresh++;
    });
    return fresh;
  }

  /** Whether the function, or a part of it, was never executed before. */
  #note({ ranges }: Profiler.FunctionCoverage): boolean {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) return false;
    const at = whole.startOffset;
    if (!this.#sources.some(([from, to]) => at >= from && at < to)) return false;
    const missed = ranges.filter(({ count }) => count === 0).map((one): Span => [one.startOffset, one.endOffset]);
    const before = this.#unreached.get(at);
    const left = before === undefined ? missed : common(before, missed);
    this.#unreached.set(at, left);
    return before === undefined || size(left) < size(before);
  }
}

/** What is in both. Spans of one list do not overlap, or one lies in the other. */
function common(some: readonly Span[], others: readonly Span[]): Span[] {
  return some.flatMap(([from, to]) =>
    others.flatMap(([start, end]): Span[] => {
      const [first, last] = [Math.max(from, start), Math.min(to, end)];
      return first < last ? [[first, last]] : [];
    }),
  );
}

const size = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + to - from, 0);

/** The parts of a bundle that come from files whose path fits. */
function spansOf(text: string, path: RegExp): Span[] {
  const marks = [...text.matchAll(/^\/\/ (\S+\.(?:m?[jt]s|wasm|json))$/gm)];
  return marks.flatMap((mark, n): Span[] =>
    path.test(mark[1] ?? "") ? [[mark.index, marks[n + 1]?.index ?? text.length]] : [],
  );
}
