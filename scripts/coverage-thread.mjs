/** A thread of a pool that runs the coverage core: it notes what it executes. */
import { workerData } from "node:worker_threads";
import { tellHits } from "./coverage-hits.mjs";

const { script, reached } = workerData;
tellHits((statement) => void (reached[statement] = 1));
await import(script);
