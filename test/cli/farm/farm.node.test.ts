/** flowsteer farm: whatever is printed and written is that of one machine, by however many workers, and whatever they suffer. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { DEEP } from "../../support/tier.js";
import { flowsteer, root, scratch, start, type Ended } from "../support/command.js";
import { pcap, pcapng } from "./support/captures.js";
import { HAS_REDIS, RedisServer } from "./support/redis.js";
import { FarmWorker } from "./support/workers.js";

const SCENARIO = "examples/everyday.json";
const PIECES = ["--piece", "512k"];
const seed = seedFor("farm");
/** How often workers are ended in a run of how many bytes. */
const KILLS = Number(import.meta.env?.["FLOWSTEER_FARM_KILLS"] ?? 0);
const MEGABYTES = Number(import.meta.env?.["FLOWSTEER_FARM_MEGABYTES"] ?? 16);

describe.skipIf(!HAS_REDIS)("flowsteer farm", () => {
  let redis: RedisServer;
  let captures: string[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    captures = [
      scratch("farm.pcap", pcap({ frames: 9000, seed })),
      scratch("farm.pcapng", pcapng({ frames: 6000, seed: seed + 1 })),
      scratch("farm.pcap.gz", gzipSync(pcap({ frames: 1000, seed: seed + 2 }))),
    ];
  });
  afterAll(async () => redis?.end());

  async function one(...options: string[]): Promise<Ended> {
    return flowsteer(["run", SCENARIO, ...captures, ...options]);
  }

  async function many(scenario: string, ...options: string[]): Promise<Ended> {
    return flowsteer(["farm", "run", scenario, ...captures, "--redis", redis.url, ...PIECES, ...options]);
  }

  /** Runs with workers, which are ended afterwards. */
  async function withWorkers<T>(count: number, options: string[], work: (all: FarmWorker[]) => Promise<T>): Promise<T> {
    const workers = await Promise.all(Array.from({ length: count }, () => FarmWorker.start(redis.url, options)));
    try {
      return await work(workers);
    } finally {
      for (const worker of workers) expect(await worker.stop()).toBe(0);
    }
  }

  it.each(
    DEEP
      ? [
          [2, 1],
          [2, 2],
        ]
      : [[2, 1]],
  )("prints with %i workers of %i processes what one machine prints", async (workers, processes) => {
    const single = await one();
    const scenario = unknownScenario();
    expect(single.err).toContain("not parsed");
    await withWorkers(workers, ["--workers", String(processes)], async () => {
      expect(await many(scenario)).toEqual(single);
    });
    // From the results that Redis keeps.
    const again = await many(scenario);
    expect({ code: again.code, out: again.out }).toEqual({ code: single.code, out: single.out });
  });

  it.each(DEEP ? ["csv", "ndjson"] : ["csv"])(
    "writes rows as %s, and captures by destination, as one machine does",
    async (format) => {
      const [rows, farmRows] = [scratch(`farm-one.${format}`), scratch(`farm-many.${format}`)];
      const [out, farmOut] = [scratch(`farm-one-${format}`), scratch(`farm-many-${format}`)];
      await one("--format", format, "--output", rows, "--out", out);
      await withWorkers(2, [], async () => {
        const ended = await many(unknownScenario(), "--format", format, "--output", farmRows, "--out", farmOut);
        expect(ended.code).toBe(0);
      });
      expect(readFileSync(farmRows).equals(readFileSync(rows))).toBe(true);
      const files = readdirSync(out);
      expect(readdirSync(farmOut)).toEqual(files);
      expect(files.length).toBeGreaterThan(1);
      for (const file of files)
        expect(readFileSync(`${farmOut}/${file}`).equals(readFileSync(`${out}/${file}`))).toBe(true);
    },
  );

  it("writes Parquet files whose rows are those of one machine, in order", async () => {
    const [file, folder] = [scratch("farm-one.parquet"), scratch("farm-parquet")];
    await one("--format", "parquet", "--output", file);
    await withWorkers(2, [], async () => {
      expect((await many(unknownScenario(), "--format", "parquet", "--output", folder)).code).toBe(0);
    });
    const rows = async (path: string): Promise<unknown[]> =>
      parquetReadObjects({ file: await asyncBufferFromFile(path) });
    const parts = readdirSync(folder).sort();
    expect(parts.length).toBeGreaterThan(3);
    const found = (await Promise.all(parts.map((part) => rows(join(folder, part))))).flat();
    expect(found).toEqual(await rows(file));
  });

  it.runIf(DEEP || KILLS > 0)("survives processes and machines that are ended at random", async () => {
    const random = new Random(seed);
    const all = Array.from({ length: Math.ceil(MEGABYTES / 16) }, () => captures).flat();
    const single = await flowsteer(["run", SCENARIO, ...all]);
    const begin = (): Promise<FarmWorker> => FarmWorker.start(redis.url, ["--workers", "1"]);
    const workers = [1, 2, 3, 4].map(begin);
    await Promise.all(workers);
    let kills = 0;
    // A run ends before all of its workers have been ended so often.
    for (let runs = 0; runs === 0 || kills < KILLS; runs++) {
      const run = flowsteer(["farm", "run", unknownScenario(), ...all, "--redis", redis.url, ...PIECES]);
      let over = false;
      void run.finally(() => (over = true));
      for (let left = (KILLS || 8) - kills; left > 0; left--) {
        await wait(random.between(20, 80));
        if (over) break;
        const which = random.below(workers.length);
        const worker = await workers[which];
        if (random.chance(0.3)) worker?.killChild(0);
        else {
          await worker?.kill();
          workers[which] = begin();
        }
        kills++;
      }
      const ended = await run;
      // Sometimes all of them are gone, which a note says.
      expect({ code: ended.code, out: ended.out }).toEqual({ code: single.code, out: single.out });
    }
    for (const worker of workers) await (await worker).kill();
    console.log(`${kills} ends`);
  });

  it.runIf(DEEP)("gives the pieces of a paused machine to another one, and counts them once", async () => {
    const single = await one();
    const [paused, other] = (await Promise.all([1, 2].map(() => FarmWorker.start(redis.url)))) as [
      FarmWorker,
      FarmWorker,
    ];
    const scenario = unknownScenario();
    const run = many(scenario);
    await wait(400);
    paused.signalAll("SIGSTOP");
    expect(await run).toEqual(single);
    paused.signalAll("SIGCONT");
    expect(await many(scenario)).toEqual(single);
    for (const worker of [paused, other]) expect(await worker.stop()).toBe(0);
  });

  it.runIf(DEEP)("survives a restart of Redis with its append-only file", async () => {
    const single = await one();
    await withWorkers(2, ["--workers", "1"], async () => {
      const run = many(unknownScenario());
      await wait(700);
      await redis.restart();
      const { code, out } = await run;
      expect({ code, out }).toEqual({ code: single.code, out: single.out });
    });
  });

  it("reports a piece that ends its process three times by its bytes, and completes the rest", async () => {
    const crash = scratch(
      "crash.mjs",
      `import { open } from "node:fs/promises";
       const file = await open(${JSON.stringify(scratch("any", "x"))});
       const { read } = Object.getPrototypeOf(file);
       Object.getPrototypeOf(file).read = function (buffer, offset, length, position) {
         // Pieces begin between records, an index reads whole megabytes.
         if (length > 0 && position % ${2 ** 20} > 24 && position < ${2 ** 21}) process.kill(process.pid, "SIGKILL");
         return read.call(this, buffer, offset, length, position);
       };
       await file.close();`,
    );
    const worker = await FarmWorker.start(redis.url, [], { NODE_OPTIONS: `--import=${crash}` });
    const { code, out, err } = await many(unknownScenario());
    await worker.stop();
    expect(code).toBe(5);
    expect(err).toMatch(
      /failed: bytes [\d,]+ to [\d,]+ of \S+farm.pcap\w*: its process was ended by SIGKILL \(tried 3 times\)/,
    );
    expect(out).toMatch(/partial: \d+ pieces? failed/);
  });

  it("has workers of its own version only, and says so", async () => {
    const other = await FarmWorker.start(redis.url, [], {}, otherVersion());
    const run = start(["farm", "run", unknownScenario(), ...captures, "--redis", redis.url]);
    let err = "";
    await new Promise<void>((resolve) => {
      run.stderr.setEncoding("utf8").on("data", (text: string) => {
        err += text;
        if (err.includes("no worker of flowsteer")) resolve();
      });
    });
    run.kill("SIGINT");
    expect(await new Promise((resolve) => run.once("close", resolve))).toBe(130);
    expect(err).toContain("those of 99.0.0 are, and accept only jobs of their own version");
    expect(await other.stop()).toBe(0);
  });

  it("leaves nothing when it is stopped while workers write", async () => {
    await withWorkers(2, [], async () => {
      for (let n = 0; n < (DEEP ? 10 : 2); n++) {
        const rows = scratch(`farm-stopped-${n}.csv`);
        const all = Array.from({ length: 4 }, () => captures).flat();
        const args = ["--redis", redis.url, "--format", "csv", "--output", rows];
        const run = start(["farm", "run", unknownScenario(), ...all, ...args]);
        let err = "";
        run.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
        const ended = new Promise((resolve) => run.once("close", resolve));
        const parts = `${rows}.parts`;
        const isWriting = (): boolean =>
          existsSync(parts) && readdirSync(parts).some((name) => name.startsWith("growing-"));
        while (run.exitCode === null && !isWriting()) await wait(5);
        run.kill("SIGINT");
        // A run may end before the signal.
        expect([0, 130], err).toContain(await ended);
        expect(err).not.toContain("defect");
        expect(existsSync(parts)).toBe(false);
      }
    });
  });

  it("refuses what flowsteer run refuses, in the same words", async () => {
    const bad = scratch("no-capture.pcap", "this is no capture");
    const wanted = await flowsteer(["run", SCENARIO, bad]);
    await withWorkers(1, [], async () => {
      expect(await flowsteer(["farm", "run", SCENARIO, bad, "--redis", redis.url])).toEqual(wanted);
    });
  });
});

let scenarios = 0;

/** The scenario under another hash: Redis has no results of it. */
function unknownScenario(): string {
  const document = JSON.parse(readFileSync(join(root, SCENARIO), "utf8")) as object;
  return scratch("farm.json", JSON.stringify({ ...document, description: `${seed} ${++scenarios}` }));
}

/** The command of a package with another version. */
function otherVersion(): string {
  const home = scratch("other-version");
  mkdirSync(home);
  const description = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(home, "package.json"), JSON.stringify({ ...description, version: "99.0.0" }));
  cpSync(join(root, "dist"), join(home, "dist"), { recursive: true, filter: (path) => !/playground|types/.test(path) });
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  return join(home, "dist/cli.js");
}
