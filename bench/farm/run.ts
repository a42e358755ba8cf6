/**
 * Where the time of a run of 10 TB on 100 machines goes: the model, with costs measured by `measure.ts`.
 *
 *     node --import tsx bench/farm/run.ts
 */
import { readFileSync } from "node:fs";
import { simulate, type Costs, type Setting } from "./model.js";

const { costs } = JSON.parse(readFileSync(new URL("../results/farm.json", import.meta.url), "utf8")) as {
  costs: Costs;
};

const GB = 1e9;
const BASE: Setting = {
  bytes: 10_000 * GB,
  fileBytes: GB,
  pieceBytes: 256 * 2 ** 20,
  machines: 100,
  cores: 8,
  network: 1.25 * GB,
  storage: 40 * GB,
  rows: false,
};

const VARIANTS: readonly (readonly [string, Partial<Setting>])[] = [
  ["as above", {}],
  ["10 machines", { machines: 10 }],
  ["network of 1 Gbit/s", { network: GB / 8 }],
  ["storage of 10 GB/s", { storage: 10 * GB }],
  ["storage of 400 GB/s", { storage: 400 * GB }],
  ["pieces of 1 MB", { pieceBytes: 2 ** 20 }],
  ["with rows", { rows: true }],
  ["rows of one file", { rows: true, fileBytes: 10_000 * GB }],
];

const minutes = (seconds: number): string => (seconds / 60).toFixed(1).padStart(8);
console.log(`${"minutes".padEnd(22)}   index   steer   Redis  merging   total  limit`);
for (const [name, change] of VARIANTS) {
  const { indexed, steered, redis, merging, total, limit } = simulate({ ...BASE, ...change }, costs);
  const cells = [indexed, steered - indexed, redis, merging, total].map(minutes).join("");
  console.log(`${name.padEnd(22)}${cells}  ${limit}`);
}
