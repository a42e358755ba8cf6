/**
 * Two workers on two cores beside one `flowsteer run`, and beside two of half the captures each at once, which is as
 * fast as these cores can be. In turn:
 *
 *     node --import tsx bench/farm/speedup.ts REDIS_URL ROUNDS SCENARIO CAPTURE...
 *
 * Prints seconds of the clock, and of processors: other programs of the machine change the latter less.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [url = "", rounds = "3", scenario = "", ...captures] = process.argv.slice(2);
const COMMAND = "dist/cli.js";
/** Of /proc/PID/stat. */
const TICKS = 100;

const folder = mkdtempSync(join(tmpdir(), "flowsteer-farm-"));
const worker = spawn(process.execPath, [COMMAND, "farm", "worker", "--redis", url, "--workers", "2"]);
await once(worker.stderr, "data");
for (let round = 0; round < Number(rounds); round++) {
  const one = timed(["run", scenario, ...captures]);
  const before = used();
  const farm = timed(["farm", "run", unknownScenario(round), ...captures, "--redis", url]);
  const cpu = farm.cpu + used() - before;
  if (farm.out !== one.out) throw new Error("the reports differ");
  const halves = await twoAtOnce();
  console.log(
    `one ${one.seconds.toFixed(1)} s (cpu ${one.cpu.toFixed(1)}), two at once ${halves.toFixed(1)} s, ` +
      `farm ${farm.seconds.toFixed(1)} s (cpu ${cpu.toFixed(1)}): ${(one.seconds / farm.seconds).toFixed(2)} times as fast`,
  );
}
worker.kill("SIGTERM");
await once(worker, "exit");
rmSync(folder, { recursive: true });

/** The scenario under another hash: Redis has no results of it. */
function unknownScenario(round: number): string {
  const document = JSON.parse(readFileSync(scenario, "utf8")) as object;
  const file = join(folder, "scenario.json");
  writeFileSync(file, JSON.stringify({ ...document, description: `${process.pid} ${round}` }));
  return file;
}

/** Seconds of processors that the worker and its processes have used; Redis takes a hundredth of that. */
function used(): number {
  const { stdout } = spawnSync("pgrep", ["-P", String(worker.pid)], { encoding: "utf8" });
  const all = [String(worker.pid), ...stdout.split("\n").filter((pid) => pid !== "")];
  const ticks = all.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /, "").split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS;
}

/** Seconds until both of two runs, each of half the captures, have ended. */
async function twoAtOnce(): Promise<number> {
  const middle = Math.ceil(captures.length / 2);
  const began = performance.now();
  const runs = [captures.slice(0, middle), captures.slice(middle)].map((half) =>
    spawn(process.execPath, [COMMAND, "run", scenario, ...half], { stdio: "ignore" }),
  );
  await Promise.all(runs.map((run) => once(run, "exit")));
  return (performance.now() - began) / 1000;
}

function timed(args: readonly string[]): { seconds: number; cpu: number; out: string } {
  const line = `TIMEFORMAT="%R %U %S"; { time "$@" 2> /dev/null; } 2> '${folder}/times'`;
  const { stdout } = spawnSync("bash", ["-c", line, "-", process.execPath, COMMAND, ...args], { encoding: "utf8" });
  const [seconds = 0, user = 0, system = 0] = readFileSync(join(folder, "times"), "utf8").trim().split(" ").map(Number);
  return { seconds, cpu: user + system, out: stdout };
}
