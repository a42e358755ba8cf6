/** flowsteer farm: frames that depend on others are divided with them or not at all; captures come by HTTP. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { DEEP } from "../../support/tier.js";
import { flowsteer, scratch } from "../support/command.js";
import { pcapng } from "./support/captures.js";
import { FileServer } from "./support/files.js";
import { HAS_REDIS, RedisServer } from "./support/redis.js";
import { FarmWorker } from "./support/workers.js";

/** A first-hit flag for each pair of hosts of the captures, in rules for both directions. */
function flags(): object {
  const hosts = [1, 2, 3, 4, 5, 6];
  const pairs = hosts.flatMap((a) => hosts.map((b) => [`10.0.0.${a}`, `10.0.1.${b}`] as const));
  const rules = pairs.flatMap(([a, b], offset) =>
    [
      [a, b],
      [b, a],
    ].map(([source, destination]) => ({
      name: `${source} to ${destination}`,
      table: "root",
      match: { "outer.ipv4_src": source, "outer.ipv4_dst": destination },
      actions: [
        { aso: { object: "seen", offset, flags: "first_hit_set", return_reg_c: 1 } },
        { count: "frames" },
        { table: "second" },
      ],
    })),
  );
  return {
    flowsteer: 1,
    queues: [{ name: "first" }, { name: "again" }],
    counters: [{ name: "frames" }],
    asoObjects: [{ name: "seen", first_hit: [3] }],
    tables: [
      { name: "root", level: 0 },
      { name: "second", level: 1 },
    ],
    rules: [
      ...rules,
      { name: "first", table: "second", match: { "misc2.metadata_reg_c_1": "0/1" }, actions: [{ queue: "first" }] },
      { name: "again", table: "second", priority: 1, actions: [{ queue: "again" }] },
    ],
  };
}

describe.skipIf(!HAS_REDIS)("flowsteer farm run", () => {
  const capture = pcapng({ frames: 4000, seed: seedFor("farm division") });
  const file = scratch("division.pcapng", capture);
  let redis: RedisServer;
  let workers: FarmWorker[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    workers = await Promise.all([1, 2].map(() => FarmWorker.start(redis.url, ["--workers", "1"])));
  });
  afterAll(async () => {
    for (const worker of workers) await worker.stop();
    await redis?.end();
  });

  async function farm(...args: string[]): Promise<object> {
    return flowsteer(["farm", "run", ...args, "--redis", redis.url]);
  }

  it.each(["1", "3", "8"])("steers connections together in %s shares", async (shares) => {
    const scenario = scratch("flags.json", JSON.stringify(flags()));
    const wanted = await flowsteer(["run", scenario, file]);
    expect(wanted.out).toContain("flag seen[0]");
    expect(await farm(scenario, file, "--shares", shares)).toEqual(wanted);
  });

  it("steers ESP of an association together", async () => {
    const args = ["examples/flows-strongswan.json", "examples/strongswan.pcap"] as const;
    expect(await farm(...args, "--shares", "3")).toEqual(await flowsteer(["run", ...args]));
  });

  it.each([
    ["examples/state-meter.json", "meters measure all frames"],
    ["examples/state-sampler.json", "samplers draw by the number of the frame"],
  ])("refuses %s by name, and --serial runs it as one machine does", async (scenario, why) => {
    expect(await farm(scenario, file)).toMatchObject({ code: 2, err: expect.stringContaining(why) as string });
    expect(await farm(scenario, file, "--serial")).toEqual(await flowsteer(["run", scenario, file]));
  });

  it("reads ranges by HTTP: with rows the capture for its index, and each piece once", async () => {
    const server = await FileServer.start(capture);
    try {
      const rows = ["--format", "csv"];
      const wanted = await flowsteer(["run", "examples/everyday.json", file, ...rows]);
      const parts = ["--parts", scratch("http.parts"), "--piece", "500k"];
      expect(await farm("examples/everyday.json", server.url, ...rows, ...parts)).toEqual(wanted);
      expect(server.given).toBeGreaterThan(2 * capture.length);
      expect(server.given).toBeLessThan(2 * capture.length + 4096);
      server.ranges = false;
      expect(await farm("examples/everyday.json", server.url)).toMatchObject({
        code: 2,
        err: expect.stringContaining("the server does not serve ranges of bytes") as string,
      });
    } finally {
      server.end();
    }
  });

  it.runIf(DEEP)("refuses a Redis that accepts connections and says nothing", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(await flowsteer(["farm", "run", "examples/everyday.json", file, "--redis", url])).toEqual({
      code: 2,
      out: "",
      err: `flowsteer: --redis ${url}: Redis cannot be reached: it accepts connections, but has not answered in 10 s\n`,
    });
    silent.close();
  });

  it("refuses a Redis that is not there", async () => {
    expect(
      await flowsteer(["farm", "run", "examples/everyday.json", file, "--redis", "redis://u:secret@127.0.0.1:1"]),
    ).toEqual({
      code: 2,
      out: "",
      err: "flowsteer: --redis redis://127.0.0.1:1: Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n",
    });
  });
});
