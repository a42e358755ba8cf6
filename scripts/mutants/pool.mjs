/** Planted faults of devices of several cores: what a copy has, what is counted, who steers which rows, what keeps frames at the first core. */

const SEES = [
  "test/model/traffic/pool.test.ts",
  "test/model/traffic/burstsInTurn.test.ts",
  "test/model/traffic/burst.node.test.ts",
  "test/model/traffic/poolPipelines.test.ts",
];

const fault = (folder) => (name, id, search, replace, breaks) => {
  return { id, file: `${folder}/${name}.ts`, search, replace, breaks, sees: SEES };
};
const engine = fault("src/engine");
const host = fault("src/model");

export const POOL = [
  engine(
    "crew",
    "pool-counts-lost-at-a-copy",
    "    this.#collect();\n    this.#first.exports.keepGlobals",
    "    this.#first.exports.keepGlobals",
    "what others have counted when they become new copies",
  ),
  engine(
    "crew",
    "pool-counts-lost-with-new-counters",
    "  #changeCounters(): void {\n    this.changes++;\n    this.#collect();",
    "  #changeCounters(): void {\n    this.changes++;",
    "what others have counted where new counters are made",
  ),
  engine(
    "replica",
    "pool-counts-twice",
    "this.core.u8.fill(0, address, address + 16 * count)",
    "this.core.u8.fill(0, address, address)",
    "counters of a copy, which begin at zero",
  ),
  engine(
    "replica",
    "pool-carry-lost",
    "high + (sum >= 2 ** 32 ? 1 : 0)",
    "high",
    "bytes beyond 32 bits in the sum of counters",
  ),
  engine(
    "replica",
    "pool-tables-not-copied",
    "take(first.arena, first.exports.arenaTop() >>> 0);",
    "take(first.arena, first.arena + 65536);",
    "tables and rules of a copy",
  ),
  engine("crew", "pool-globals-stale", "this.#first.exports.keepGlobals(this.core.staging);", "", "globals of a copy"),
  engine(
    "crew",
    "pool-copy-stale",
    '["seal", "open", "sealMany", "openMany"] as const',
    '["seal", "open", "sealMany", "openMany", "removeRule"] as const',
    "copies behind a rule that has gone",
  ),
  engine(
    "crew",
    "pool-numbers-of-one-core",
    "own.core.exports.skipNumbers(rows - own.count);",
    "",
    "the numbers of frames that chance depends on",
  ),
  engine(
    "replica",
    "pool-steered-twice",
    "if (!claim(this.#control, Word.claimed, this.#asked)) return false;",
    "claim(this.#control, Word.claimed, this.#asked);",
    "tasks that the thread has begun",
  ),
  engine(
    "crew",
    "pool-share-overlaps",
    "first: first - count, count, some: -1",
    "first: Math.max(0, first - count - 1), count, some: -1",
    "which rows each core steers",
  ),
  engine(
    "batch",
    "pool-wire-length",
    "return this.add(address - this.core.bytes, bytes.length, wireLength, port, link);",
    "return this.add(address - this.core.bytes, bytes.length, bytes.length, port, link);",
    "the length on the wire of frames in a burst",
  ),
  engine(
    "runner",
    "pool-rows-of-others",
    "const begin = (frames + (control[Word.first] as number) * FRAME_SIZE) >> 2;",
    "const begin = frames >> 2;",
    "which rows a thread brings in",
  ),
  engine(
    "crew",
    "pool-counts-lost-under-way",
    "  #collect(): void {\n    this.finish();",
    "  #collect(): void {",
    "counters that are read while a burst is under way",
  ),
  host(
    "poolTraffic",
    "pool-columns-of-the-next",
    "  #spread(rows: number, sums: boolean): void {\n    this.#finish();",
    "  #spread(rows: number, sums: boolean): void {",
    "columns of a burst that another brings to its end",
  ),
  host(
    "poolTraffic",
    "pool-columns-reordered",
    "copyColumns(core.outcomeColumns, columns, first, count);",
    "copyColumns(core.outcomeColumns, columns, count - count, count);",
    "the order of rows in columns",
  ),
  host(
    "poolTraffic",
    "pool-outcome-of-another-row",
    ".read(row - share.first, frame",
    ".read(row, frame",
    "outcomes of rows that others have steered",
  ),
  host(
    "poolTraffic",
    "pool-survey-stale",
    "if (this.#surveyed === changes && this.#entry === entry) return this.#why;",
    "if (this.#surveyed >= 0) return this.#why;",
    "what frames can reach behind a change",
  ),
];
