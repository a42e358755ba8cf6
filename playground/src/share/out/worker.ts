/** The worker that steers frames again to write them down. The page ends it to stop the work. */
import { expose } from "comlink";
import type { Progress } from "../../engine/api.js";
import { rowsFile, testFile, type Source } from "./steering.js";

/** It explains nothing, so it needs no traced core. */
const CORE = new URL("./core.wasm", import.meta.url);

const writer = {
  rows: (source: Source, format: "csv" | "ndjson", progress: Progress) => rowsFile(source, format, CORE, progress),
  test: (source: Source, frame: number | null, progress: Progress) => testFile(source, frame, CORE, progress),
};

export type Writer = typeof writer;

expose(writer);
