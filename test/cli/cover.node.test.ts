/** flowsteer cover: its report, its lines, the files of --out, exit codes, and signals. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCapture } from "../../src/packet/capture/read.js";
import type { Scenario } from "../../src/scenario/index.js";
import { flowsteer, scratch, start } from "./support/command.js";
import { coverLinesOf, readLines, ruleLines, sumOf } from "./support/coverLines.js";

const drop: ["drop"] = ["drop"];
/** Two rules are dead, each for its own reason, and a table. */
const DEAD: Scenario = {
  flowsteer: 1,
  title: "Two dead rules",
  queues: [{ name: "web" }],
  tables: [
    { name: "root", level: 0 },
    { name: "aside", level: 1 },
  ],
  rules: [
    { name: "low ports", table: "root", match: { "outer.tcp_dport": "0-1023" }, actions: [{ queue: "web" }] },
    { name: "http", table: "root", match: { "outer.tcp_dport": 80 }, actions: drop },
    { name: "tcp over udp", table: "root", match: { "outer.tcp_dport": 8080, "outer.ip_protocol": 17 }, actions: drop },
    { name: "rest", table: "root", match: {}, actions: drop },
    { name: "nowhere", table: "aside", match: {}, actions: drop },
  ],
};
const dead = (): string => scratch("dead.json", JSON.stringify(DEAD));

describe("the report", () => {
  it("has each table with its rules, and the sums", async () => {
    const { code, out, err } = await flowsteer(["cover", dead()]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.split("\n").filter((line) => !line.startsWith(" ".repeat(11)));
    expect(lines.map((line) => line.replace(/ {2}[^ ].*$/, (text) => text.slice(0, 24)))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^NIC_RX {3}table root$/)]),
    );
    expect(out).toMatch(/\n {2}live {5}"low ports" {2}ethernet \/ .*tcp .*, at port 1/);
    expect(out).toMatch(/\n {2}dead {5}"http" {2}.*"low ports"/);
    expect(out).toMatch(/\n {2}dead {5}"tcp over udp" {2}/);
    expect(out).toMatch(/\nNIC_RX {3}table aside: /);
    expect(out.split("\n").slice(-4)).toEqual([
      "",
      "5 rules: 2 live (40.0 %), 3 dead (60.0 %), 0 unknown (0.0 %)",
      "1 of 2 tables reached",
      "",
    ]);
  });

  it("tells of rules that an import did not carry over wholly", async () => {
    const rules = (DEAD.rules ?? []).map((rule) =>
      rule.name === "http" ? { ...rule, notImported: ["count 7: no counter"] } : rule,
    );
    const path = scratch("incomplete.json", JSON.stringify({ ...DEAD, rules }));
    expect((await flowsteer(["cover", path])).err).toBe("note: rule http lacks count 7: no counter\n");
    expect((await flowsteer(["cover", path, "--quiet"])).err).toBe("");
  });

  it("is left out with --quiet", async () => {
    expect(await flowsteer(["cover", dead(), "--quiet"])).toEqual({ code: 0, out: "", err: "" });
  });
});

describe("the lines of JSON", () => {
  it("have rules with their places, witnesses and proofs", async () => {
    const lines = await coverLinesOf([dead()]);
    expect(lines.map(({ kind }) => kind)).toEqual([
      "table",
      ..."....".split("").map(() => "rule"),
      "table",
      "rule",
      "sum",
    ]);
    const rules = ruleLines(lines);
    expect([...rules.values()].map(({ rule }) => rule.places)).toEqual([0, 1, 2, 3, 4].map((i) => [`/rules/${i}`]));
    expect(rules.get("low ports")?.answer).toMatchObject({
      status: "live",
      witness: { from: { kind: "wire", port: 1 }, before: [] },
    });
    expect(rules.get("http")?.answer).toMatchObject({
      status: "dead",
      proof: { kind: "covered", by: [{ name: "low ports", places: ["/rules/0"] }] },
    });
    expect(rules.get("tcp over udp")?.answer).toMatchObject({ status: "dead", proof: { kind: "contradiction" } });
    expect(rules.get("nowhere")?.answer).toMatchObject({ status: "dead", proof: { kind: "unreached" } });
    expect(sumOf(lines)).toEqual({
      kind: "sum",
      rules: { live: 2, dead: 3, unknown: 0 },
      tables: { live: 1, dead: 1, unknown: 0 },
      partial: null,
    });
  });

  it("place each of identical flows, and name the queue that sends a witness", async () => {
    const lines = await coverLinesOf(["examples/flows-sending.json"]);
    const flows = [...ruleLines(lines).values()].filter(({ rule }) => rule.kind === "flow");
    expect(flows.length).toBeGreaterThan(0);
    for (const { rule } of flows) expect(rule.places.every((place) => place.startsWith("/flows/"))).toBe(true);
    const sources = flows.flatMap(({ answer }) => (answer.status === "live" ? [answer.witness.from.kind] : []));
    expect(sources).toContain("queue");
  });
});

describe("exit codes", () => {
  it.each([
    [[], 0],
    [["--fail-on", "dead"], 1],
    [["--fail-on", "unknown"], 1],
  ])("with %j is %d where rules are dead", async (options, code) => {
    expect((await flowsteer(["cover", dead(), "--quiet", ...options])).code).toBe(code);
  });

  it("is 0 where no rule is dead", async () => {
    const file = scratch("live.json", JSON.stringify({ ...DEAD, rules: DEAD.rules?.slice(0, 1) }));
    expect((await flowsteer(["cover", file, "--quiet", "--fail-on", "unknown"])).code).toBe(0);
  });

  it.each([
    [[], "name a scenario or rules: flowsteer cover RULES..."],
    [
      ["examples/everyday.json", "examples/ports.json"],
      "examples/everyday.json is a scenario: rules of several files are those of other programs",
    ],
    [["a.json", "--fail-on", "live"], "expected dead or unknown"],
    [["missing.json"], "no such file; check the path"],
  ])("is 2 for %j", async (args, hint) => {
    const { code, out, err } = await flowsteer(["cover", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(hint);
  });
});

describe("--out", () => {
  it("writes a scenario that passes, and a capture with comments", async () => {
    const folder = scratch("witnesses");
    const { code, out } = await flowsteer(["cover", dead(), "--out", folder]);
    expect(code).toBe(0);
    expect(out).toContain(`\nwrote ${join(folder, "cover.json")}: 2\nwrote ${join(folder, "cover.pcapng")}: 2\n`);
    expect(existsSync(join(folder, "cover-2.json"))).toBe(false);
    const run = await flowsteer(["run", join(folder, "cover.json")]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toContain("\nAll expectations are met.\n");
    const {
      title,
      frames,
      expect: expected,
      ...rest
    } = JSON.parse(readFileSync(join(folder, "cover.json"), "utf8")) as Scenario;
    const { title: _, ...given } = DEAD;
    expect(rest).toEqual(given);
    expect(title).toBe("Witnesses: Two dead rules");
    expect(expected?.frames).toEqual([
      { frame: "low ports", verdict: "deliver", reason: null, to: ["qp:web"], tag: null, rules: ["low ports"] },
      { frame: "rest", verdict: "drop", reason: "drop_action", to: [], tag: null, rules: ["rest"] },
    ]);
    const capture = readCapture(new Uint8Array(readFileSync(join(folder, "cover.pcapng"))));
    const { value } = await capture.next();
    const captured = value as { bytes: Uint8Array }[];
    expect(captured.map(({ bytes }) => Buffer.from(bytes).toString("hex"))).toEqual(frames?.map(({ hex }) => hex));
    const text = readFileSync(join(folder, "cover.pcapng")).toString("latin1");
    expect(text).toContain('flowsteer: the witness of rule "low ports" (/rules/0); deliver to qp:web');
    expect(text).toContain("port 1");
  });

  it("fails in the scenario when a rule no longer takes its witness", async () => {
    const folder = scratch("changed");
    await flowsteer(["cover", dead(), "--out", folder, "--quiet"]);
    const document = JSON.parse(readFileSync(join(folder, "cover.json"), "utf8")) as Scenario;
    const rules = document.rules?.map((rule) =>
      rule.name === "low ports" ? { ...rule, match: { "outer.tcp_dport": 1 } } : rule,
    );
    const { code, err } = await flowsteer(["run", scratch("changed.json", JSON.stringify({ ...document, rules }))]);
    expect(code).toBe(1);
    expect(err).toContain('"low ports": rules: expected ["low ports"]');
  });

  it("does not write over the scenario that it reads", async () => {
    const file = scratch("cover.json", JSON.stringify(DEAD));
    const { code, err } = await flowsteer(["cover", file, "--out", join(file, "..")]);
    expect(code).toBe(3);
    expect(err).toContain("choose another file for --out");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(DEAD);
  });
});

describe("a signal", () => {
  it("ends the search, and gives what is done so far", async () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => ({
      name: `rule ${i}`,
      table: "root",
      match: { "outer.ipv4_dst": `10.${i >> 8}.${i & 255}.1`, "outer.tcp_dport": i },
      actions: drop,
    }));
    const child = start(["cover", "-", "--json"]);
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    // More than a pipe holds: once it is taken, the command catches signals.
    if (!child.stdin.write(JSON.stringify({ ...DEAD, rules }))) await once(child.stdin, "drain");
    child.kill("SIGINT");
    child.stdin.end();
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(130);
    const lines = readLines(out);
    expect(sumOf(lines).partial).toBe("interrupted by SIGINT");
    expect(ruleLines(lines).size).toBeLessThan(20_000);
  });
});
