/** flowsteer farm run takes options of flowsteer run, and refuses by name those that cannot be divided. */
import { describe, expect, it } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { flowsteer, scratch, type Ended } from "../support/command.js";
import { pcap, pcapng } from "./support/captures.js";
import { withOneWorker } from "./support/oneWorker.js";
import { HAS_REDIS } from "./support/redis.js";

const SCENARIO = "examples/everyday.json";
const SERIAL = "examples/state-meter.json";

describe.skipIf(!HAS_REDIS)("options of flowsteer farm run", () => {
  const seed = seedFor("farm options");
  const captures = [
    scratch("first.pcap", pcap({ frames: 1000, seed })),
    // It breaks off, which a run that ends before does not see.
    scratch("second.pcapng", pcapng({ frames: 1000, seed }).slice(0, -5)),
  ];
  const redisUrl = withOneWorker();

  async function one(scenario: string, ...options: string[]): Promise<Ended> {
    return flowsteer(["run", scenario, ...captures, ...options]);
  }

  async function many(scenario: string, ...options: string[]): Promise<Ended> {
    return flowsteer(["farm", "run", scenario, ...captures, "--redis", redisUrl(), "--piece", "200k", ...options]);
  }

  it.each(["0", "1", "700", "1000", "1001", "1999", "2000", "5000"])("stops after %s frames", async (limit) => {
    expect(await many(SCENARIO, "--limit", limit)).toEqual(await one(SCENARIO, "--limit", limit));
  });

  it("stops one process after so many frames", async () => {
    const limit = ["--limit", "1500"];
    expect(await many(SERIAL, "--serial", ...limit)).toEqual(await one(SERIAL, ...limit));
  });

  it("writes a line of JSON for each frame, and one more for a capture that breaks off", async () => {
    const wanted = await one(SCENARIO, "--json");
    expect(wanted.out.split("\n").length).toBeGreaterThan(1900);
    expect(wanted.out).toContain('{"partial":');
    expect(await many(SCENARIO, "--json", "--parts", scratch("json.parts"))).toEqual(wanted);
  });

  it.each([
    [["--annotate", "out.pcapng"], "flowsteer run --annotate"],
    [["--frame", "3"], "one frame needs one machine"],
    [["--workers", "4"], "flowsteer farm worker --workers"],
    [["--json"], "workers need a folder that all machines share; use --parts FOLDER"],
    [["--json", "--format", "csv"], "--json and --format cannot be used together"],
  ])("refuses %s by name", async (options, why) => {
    const { code, err } = await many(SCENARIO, ...options);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) as string });
    expect(err).toContain(options[0]);
  });
});
