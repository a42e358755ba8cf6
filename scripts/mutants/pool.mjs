/** Planted faults of devices of several cores: what a copy has, what is counted, who steers which rows, what keeps frames at the first core. */

const SEES = ["test/model/pool.test.ts", "test/model/burst.node.test.ts", "test/model/poolPipelines.test.ts"];

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
    "own.core.exports.skipNumbers(this.stage.count - own.count);",
    "",
    "the numbers of frames that chance depends on",
  ),
  engine(
    "replica",
    "pool-steered-twice",
    "if (!claim(this.#control, this.#asked)) return false;",
    "claim(this.#control, this.#asked);",
    "tasks that the thread has begun",
  ),
  engine(
    "crew",
    "pool-share-overlaps",
    "first: first - count, count, some: 0",
    "first: Math.max(0, first - count - 1), count, some: 0",
    "which rows each core steers",
  ),
  engine(
    "stage",
    "pool-wire-length",
    "words[at + FRAME_WIRE_LENGTH / 4] = wireLength;",
    "words[at + FRAME_WIRE_LENGTH / 4] = length;",
    "the length on the wire of frames in the stage",
  ),
  engine(
    "stage",
    "pool-frames-not-packed",
    "port | (link << 16) | (FRAME_PACKED << 24)",
    "port | (link << 16)",
    "frames behind one that a rule makes longer",
  ),
  host(
    "poolTraffic",
    "pool-columns-reordered",
    "copyColumns(core.outcomeColumns, columns, first, count);\n    for (const share",
    "copyColumns(core.outcomeColumns, columns, count - count, count);\n    for (const share",
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
