/**
 * Measures the costs of the model, and one machine beside two workers: bench/results/farm.json.
 *
 *     node --import tsx bench/farm/measure.ts CAPTURE REDIS_URL
 *
 * Costs are processor time: other programs of the machine change it less than wall time. No other program may use this Redis.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { CaptureDecoder, FrameColumns } from "../../src/index.js";
import { machine } from "../machine.js";

const [capture = "", url = ""] = process.argv.slice(2);
const COMMAND = "dist/cli.js";
const SCENARIO = "examples/everyday.json";
/** Of /proc/PID/stat. */
const TICKS = 100;
const CHUNK = 1 << 20;

interface Used {
  /** Seconds of the clock. */
  readonly seconds: number;
  /** Seconds of processors, of the command. */
  readonly cpu: number;
}

const { size } = statSync(capture);
const folder = mkdtempSync(join(tmpdir(), "flowsteer-farm-"));
const redis = new Redis(url, { maxRetriesPerRequest: null });
const worker = spawn(process.execPath, [COMMAND, "farm", "worker", "--redis", url, "--workers", "2"]);
await once(worker.stderr, "data");

const index = await indexSeconds();
const one = timed(["run", SCENARIO, capture]);
await farm("64M", 0);
const large = await farm("64M", 1);
const small = await farm("1M", 2);
worker.kill("SIGTERM");
await once(worker, "exit");
redis.disconnect();
rmSync(folder, { recursive: true });

const pieces = small.pieces - large.pieces;
const eachPiece = (of: (run: FarmUsed) => number): number => Math.max(0, of(small) - of(large)) / pieces;
const costs = {
  index: size / index,
  steer: size / one.cpu,
  piece: eachPiece(({ worker: seconds }) => seconds),
  redis: eachPiece(({ redis: seconds }) => seconds),
  merge: eachPiece(({ cpu }) => cpu),
};
const result = { machine: machine(), bytes: size, one, large, small, speedup: one.seconds / large.seconds, costs };
const text = `${JSON.stringify(result, null, 2)}\n`;
writeFileSync("bench/results/farm.json", text);
console.log(text);

interface FarmUsed extends Used {
  readonly pieces: number;
  /** Seconds of processors, of workers and of Redis. */
  readonly worker: number;
  readonly redis: number;
}

/** A run whose results Redis does not have yet. */
async function farm(piece: string, number: number): Promise<FarmUsed> {
  const scenario = join(folder, "scenario.json");
  const document = JSON.parse(readFileSync(SCENARIO, "utf8")) as object;
  writeFileSync(scenario, JSON.stringify({ ...document, description: `${process.pid} ${number}` }));
  const [before, jobs] = [await used(), await steered()];
  const { seconds, cpu } = timed(["farm", "run", scenario, capture, "--redis", url, "--piece", piece]);
  const after = await used();
  const pieces = (await steered()) - jobs;
  return { seconds, cpu, pieces, worker: after.worker - before.worker, redis: after.redis - before.redis };
}

async function steered(): Promise<number> {
  return (await redis.keys("flowsteer:flowsteer-*:steer-*")).length;
}

async function used(): Promise<{ worker: number; redis: number }> {
  // Without children pgrep ends with 1.
  const { stdout } = spawnSync("pgrep", ["-P", String(worker.pid)], { encoding: "utf8" });
  const children = stdout.split("\n").filter((pid) => pid !== "");
  const ticks = [String(worker.pid), ...children].map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /, "").split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  const info = await redis.info("cpu");
  const [user = 0, system = 0] = ["used_cpu_user", "used_cpu_sys"].map((name) =>
    Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]),
  );
  return { worker: ticks.reduce((sum, one) => sum + one, 0) / TICKS, redis: user + system };
}

function timed(args: readonly string[]): Used {
  const line = `TIMEFORMAT="%R %U %S"; { time "$@" > /dev/null 2> /dev/null; } 2>&1`;
  const output = execFileSync("bash", ["-c", line, "-", process.execPath, COMMAND, ...args], { encoding: "utf8" });
  const [seconds = 0, user = 0, system = 0] = output.trim().split(" ").map(Number);
  return { seconds, cpu: user + system };
}

/** Seconds of the processor to decode the capture. */
async function indexSeconds(): Promise<number> {
  const before = process.cpuUsage();
  const decoder = new CaptureDecoder();
  const rows = new FrameColumns();
  for await (const chunk of createReadStream(capture, { highWaterMark: CHUNK })) {
    for (let at = 0; at < (chunk as Uint8Array).length;) at = decoder.read(chunk as Uint8Array, at, rows);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
