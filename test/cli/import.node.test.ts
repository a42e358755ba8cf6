/** flowsteer import: what it writes, what it refuses, and what run and why say of rules that lack something. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { flowsteer } from "./support/command.js";

const DUMP = fileURLToPath(new URL("../../examples/fdb-dump.csv", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "flowsteer-import-"));
const lines = readFileSync(DUMP, "utf8").split("\n");

describe("flowsteer import", () => {
  it("refuses what a dump does not hold, with line and column", async () => {
    const { code, out, err } = await flowsteer(["import", DUMP]);
    expect(code).toBe(2);
    expect(out).toBe("");
    const refused = err.split("\n").filter((line) => line.includes(": not imported: "));
    expect(refused.length).toBeGreaterThan(0);
    for (const line of refused) {
      const [, number, text] = /:(\d+):1: not imported: (\S+) /.exec(line) ?? [];
      expect(lines[Number(number) - 1]).toBe(text);
    }
    expect(err).toContain(`${refused.length} elements were not imported; --lenient leaves them out`);
  });

  it("leaves it out with --lenient, and run and why tell of the rules that lack it", async () => {
    const path = join(folder, "rules.json");
    const { code, out, err } = await flowsteer(["import", DUMP, "--lenient", "--json", "--output", path]);
    expect([code, out]).toEqual([0, ""]);
    const findings = err
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { severity: string; text: string });
    const scenario = JSON.parse(readFileSync(path, "utf8")) as {
      notImported: { text: string }[];
      rules: { name: string; match: Record<string, number>; notImported?: string[] }[];
    };
    const refused = findings.filter(({ severity }) => severity === "refused");
    expect(scenario.notImported.map(({ text }) => text)).toEqual(refused.map(({ text }) => text));
    // Its action jumps to the root table.
    const rule = scenario.rules.find(({ notImported = [] }) => notImported[0]?.startsWith("3424"));
    const { "outer.udp_dport": port, "outer.ip_dscp": dscp = 0 } = rule?.match ?? {};
    const mac = String(rule?.match["outer.dmac"]).replace(/\/.*/, "");
    const packet = [
      { header: "ethernet", destination: mac, source: "02:00:00:00:00:01" },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2", dscp },
      { header: "udp", source_port: 1000, destination_port: port },
    ];
    writeFileSync(path, JSON.stringify({ ...scenario, frames: [{ headers: packet }] }));
    const ran = await flowsteer(["run", path]);
    expect(ran.err).toContain(`rule ${rule?.name} lacks 3424`);
    const why = await flowsteer(["why", path, "--frame", "1"]);
    expect(why.out).toContain(`Note: rule ${rule?.name} lacks 3424`);
  });

  it("gives variables the values of --set", async () => {
    const script = join(folder, "script.sh");
    writeFileSync(script, "tc filter add dev $REP ingress protocol ip flower dst_mac $MAC action drop\n");
    const bare = await flowsteer(["import", script, "--map", "eth2_0=vf1"]);
    expect(bare.err).toContain("$MAC, a variable that the text does not set (--set MAC=... does) is not a MAC address");
    expect(bare.err).toContain("1 element was not imported; --lenient leaves it out");
    const set = ["--set", "REP=eth2_0,MAC=02:00:00:00:00:02"];
    const { code, out } = await flowsteer(["import", script, "--map", "eth2_0=vf1", ...set]);
    expect(code).toBe(0);
    const { rules } = JSON.parse(out) as { rules: { table: string; match: unknown }[] };
    expect(rules.find(({ table }) => table === "eth2_0")?.match).toMatchObject({ "outer.dmac": "02:00:00:00:00:02" });
    const wrong = await flowsteer(["import", script, "--set", "REP"]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("NAME=VALUE, with commas between them: --set REP=eth2_0");
  });

  it("refuses a format that it does not know", async () => {
    const { code, err } = await flowsteer(["import", DUMP, "--format", "csv"]);
    expect(code).toBe(2);
    expect(err).toContain("one of mlx5-dump");
  });
});
