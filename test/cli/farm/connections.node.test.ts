/** flowsteer farm: connection tracking in shares: report, rows and captures by destination are those of one machine. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { PcapngWriter } from "../../../src/packet/capture/writer.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { flowsteer, root, scratch, type Ended } from "../support/command.js";
import { withOneWorker } from "./support/oneWorker.js";
import { HAS_REDIS } from "./support/redis.js";

const CONNECTIONS = 12;
const CLIENT_PORT = 40000;
const seed = seedFor("farm connections");

const client = (n: number): string => `10.0.0.${n + 1}`;
const server = (n: number): string => `192.0.2.${80 + (n % 4)}`;

interface Rule {
  name: string;
  match?: Record<string, string | number>;
  actions: (string | Record<string, unknown>)[];
}

/** The example for a firewall with more connections. */
function firewall(): string {
  const document = JSON.parse(readFileSync(join(root, "examples/state-firewall.json"), "utf8")) as {
    rules: Rule[];
    asoObjects: object[];
  };
  const asoObjects = document.asoObjects.map((one) => ({ ...one, log_obj_range: 4 }));
  const ofConnection = (rule: Rule, n: number): Rule => {
    const ends = JSON.stringify(rule.match).replaceAll("10.0.0.1", client(n)).replaceAll("192.0.2.80", server(n));
    const [, ...others] = rule.actions;
    const { aso } = rule.actions[0] as { aso: object };
    const name = `${rule.name} ${n}, "and back";\n`;
    return {
      ...rule,
      name,
      match: JSON.parse(ends) as object as never,
      actions: [{ aso: { ...aso, offset: n } }, ...others],
    };
  };
  const rules = document.rules.flatMap((rule) =>
    /^from (in|out)side$/.test(rule.name)
      ? Array.from({ length: CONNECTIONS }, (_, n) => ofConnection(rule, n))
      : [rule],
  );
  // The frames and expectations of the example are about its own connection.
  return JSON.stringify({ ...document, frames: undefined, expect: undefined, asoObjects, rules });
}

/** Both sides of all connections in turn: handshakes, data, frames out of order, resets, and frames of strangers. */
function capture(): Uint8Array {
  const random = new Random(seed);
  const writer = new PcapngWriter({ interfaces: [{ linkType: 1, nanoseconds: true }] });
  const next = Array.from({ length: CONNECTIONS }, () => ({ there: 100, back: 500 }));
  const frames = Array.from({ length: 3000 }, (_, number) => {
    const n = random.below(CONNECTIONS);
    const at = next[n] as { there: number; back: number };
    const forth = random.chance(0.5);
    const flags = ["syn", "syn ack", "ack", "psh ack", "psh ack", "psh ack", "fin ack", "rst"][
      random.below(8)
    ] as string;
    const payload = flags === "psh ack" ? random.between(1, 90) : 0;
    const [sequence, acknowledgement] = forth ? [at.there, at.back] : [at.back, at.there];
    if (random.chance(0.9)) at[forth ? "there" : "back"] += payload + Number(/syn|fin/.test(flags));
    const from = random.chance(0.05) ? "198.51.100.9" : client(n);
    const [source, destination] = forth ? [from, server(n)] : [server(n), from];
    const [source_port, destination_port] = forth ? [CLIENT_PORT, 80] : [80, CLIENT_PORT];
    const bytes = buildFrame([
      { header: "ethernet" },
      { header: "ipv4", source, destination },
      { header: "tcp", source_port, destination_port, flags, sequence, acknowledgement, window: 2000 },
      { header: "payload", bytes: "61".repeat(payload) },
    ]);
    // Times do not say the order.
    return writer.frame({ time: BigInt(random.below(1000)) * 1_000_000n + BigInt(number % 2), bytes });
  });
  return Buffer.concat([writer.header(), ...frames]);
}

describe.skipIf(!HAS_REDIS)("flowsteer farm run with connection tracking", () => {
  const redisUrl = withOneWorker();
  const file = scratch("connections.pcapng", capture());
  const scenario = scratch("firewall.json", firewall());

  async function farm(...args: string[]): Promise<Ended> {
    return flowsteer(["farm", "run", scenario, file, "--redis", redisUrl(), ...args]);
  }

  it.each(["1", "2", "7"])("prints with %s shares what one machine prints", async (shares) => {
    const wanted = await flowsteer(["run", scenario, file]);
    expect(wanted.out).toMatch(/connections\[\d+\]/);
    expect(await farm("--shares", shares)).toEqual(wanted);
  });

  it.each(["csv", "ndjson"])("writes rows as %s in the order of frames", async (format) => {
    const [rows, farmRows] = [scratch(`one.${format}`), scratch(`many.${format}`)];
    await flowsteer(["run", scenario, file, "--format", format, "--output", rows]);
    expect((await farm("--shares", "5", "--format", format, "--output", farmRows)).code).toBe(0);
    expect(readFileSync(farmRows, "utf8")).toBe(readFileSync(rows, "utf8"));
  });

  it("writes captures by destination in the order of frames", async () => {
    const [out, farmOut] = [scratch("one-out"), scratch("many-out")];
    const wanted = await flowsteer(["run", scenario, file, "--out", out]);
    const ended = await farm("--shares", "5", "--out", farmOut);
    expect(ended.out.replaceAll(farmOut, out)).toBe(wanted.out);
    const files = readdirSync(out);
    expect(files.length).toBeGreaterThan(2);
    expect(readdirSync(farmOut)).toEqual(files);
    for (const name of files)
      expect(readFileSync(join(farmOut, name)).equals(readFileSync(join(out, name)))).toBe(true);
  });

  it("refuses Parquet by name", async () => {
    expect(await farm("--format", "parquet", "--output", scratch("rows"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("csv, ndjson or --serial") as string,
    });
  });
});
