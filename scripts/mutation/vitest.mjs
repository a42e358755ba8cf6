/** Runs test files in one vitest process, which does a job (runner.mjs). */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";

const FOLDER = "build/mutation";
const VITEST = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--config",
  "scripts/mutation/vitest.config.ts",
  "--root",
  ".",
];
/** Random tests are the same each time, and short. */
const SETTINGS = {
  FLOWSTEER_SEED: "20261121",
  FLOWSTEER_FUZZ: "4000",
  FLOWSTEER_PIPELINES: "1000",
  FLOWSTEER_ESP: "10",
  CI: "",
};

/** Gives the path of what the job wrote. Ends the process when it writes nothing for `patience` ms. */
export function runTests(job, files, { onLine = () => {}, patience }) {
  mkdirSync(FOLDER, { recursive: true });
  const output = join(FOLDER, "output.jsonl");
  const path = join(FOLDER, "job.json");
  if (!job.goesOn) writeFileSync(output, "");
  writeFileSync(path, JSON.stringify({ ...job, output }));
  const log = openSync(join(FOLDER, "vitest.log"), "w");
  const child = spawn(process.execPath, [...VITEST, ...files], {
    detached: true,
    env: { ...process.env, ...SETTINGS, FLOWSTEER_MUTATION: path },
    stdio: ["ignore", log, log],
  });
  const stop = () => process.kill(-child.pid, "SIGKILL");
  process.once("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

  return new Promise((resolve) => {
    let read = statSync(output).size;
    let last = Date.now();
    const look = () => {
      const { size } = statSync(output);
      if (size === read) return;
      const bytes = readFileSync(output).subarray(read);
      const whole = bytes.lastIndexOf("\n") + 1;
      read += whole;
      last = Date.now();
      parse(bytes.subarray(0, whole).toString()).forEach(onLine);
    };
    const timer = setInterval(() => {
      look();
      if (Date.now() - last > patience) stop();
    }, 500);
    child.on("close", () => {
      clearInterval(timer);
      process.off("exit", stop);
      look();
      resolve(output);
    });
  });
}

/** The lines of JSON that are whole. */
export function linesOf(path) {
  const text = readFileSync(path, "utf8");
  return parse(text.slice(0, text.lastIndexOf("\n") + 1));
}

function parse(text) {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
