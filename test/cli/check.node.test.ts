/** `flowsteer check`: findings as text and as JSON, exit codes, repairs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../src/cli/check/findings.js";
import { fixedText } from "../../src/cli/check/fix.js";
import { jsonLines } from "../../src/cli/report/findingText.js";
import { flowsteer, root, scratch } from "./support/command.js";

const SCHEMA = join(root, "schema/check-1.schema.json");
const PLANTED = join(root, "test/proof/lint/planted");
const read = (file: string): string => readFileSync(file, "utf8");

const UNREACHED = join(PLANTED, "unreached-table-forgotten-jump.json");
const NOTED = join(PLANTED, "unused-queue-without-rule.json");

describe("schema/check-1.schema.json", () => {
  it("describes the lines of planted faults, and of refusals", async () => {
    const judge = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
      JSON.parse(read(SCHEMA)) as object,
    );
    const shown = /^(contradiction|dead-rule|loop|order|unreached-rule|unused-counter|esp)/;
    const texts = readdirSync(PLANTED)
      .filter((name) => shown.test(name))
      .map((name) => read(join(PLANTED, name)));
    for (const text of [...texts, "{", '{ "flowsteer": 1, "tables": [{}], "queue": [] }']) {
      const lines = jsonLines(await checkFile("a.json", text), [])
        .trimEnd()
        .split("\n");
      for (const line of lines) expect(judge(JSON.parse(line)), `${line}\n${JSON.stringify(judge.errors)}`).toBe(true);
    }
  });
});

describe("output", () => {
  it("names place, severity, identity and sentence of a finding, after what the file has", async () => {
    const { code, out, err } = await flowsteer(["check", UNREACHED]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain(`${UNREACHED}: 1 warning\n  queues       1  web\n`);
    expect(out).toContain(
      `${UNREACHED}:13:5: warning unreached-table tables[1]\n  No rule leads to table "services", so`,
    );
  });

  it("has the findings of all files in JSON, and errors among them", async () => {
    const broken = scratch(
      "broken.json",
      '{\n  "flowsteer": 1,\n  "tables": [{ "name": "root", "level": -1 }],\n  "x": 1\n}\n',
    );
    const { code, out } = await flowsteer(["check", "--json", UNREACHED, broken]);
    expect(code).toBe(2);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ kind, id, severity }) => [kind, id, severity])).toEqual([
      ["finding", "unreached-table", "warning"],
      ["file", undefined, undefined],
      ["finding", "bad_scenario", "error"],
      ["finding", "bad_scenario", "error"],
      ["file", undefined, undefined],
    ]);
    expect(lines[0]).toMatchObject({ place: { path: "tables[1]", pointer: "/tables/1" } });
    expect(lines.slice(2, 4).map(({ place }) => place)).toContainEqual({
      path: "tables[0].level",
      pointer: "/tables/0/level",
      line: 3,
      column: 41,
    });
    expect(lines[4]).toMatchObject({ errors: 2, warnings: 0, notes: 0 });
  });
});

describe("the exit code", () => {
  it.each<[severity: string, file: string, code: number]>([
    ["error", UNREACHED, 0],
    ["warning", NOTED, 0],
    ["note", NOTED, 1],
    ["never", UNREACHED, 0],
  ])("with --fail-on %s", async (severity, file, code) => {
    expect(await flowsteer(["check", file, "--fail-on", severity])).toMatchObject({ code, err: "" });
  });

  it("is 2 for another severity", async () => {
    const { code, err } = await flowsteer(["check", NOTED, "--fail-on", "hint"]);
    expect(code).toBe(2);
    expect(err).toContain("expected one of error, warning, note, never");
  });
});

const UNUSED = `{
  "flowsteer": 1, "queues": [{"name":"web"}],
  "counters": [
    { "name": "one" },   { "name": "hits" },
    { "name": "expected" },
    { "name": "last" }
  ],
  "actions": [ { "name": "refuse", "drop": true } ],
  "tables": [{ "name": "root", "level": 0 }],
  "rules": [{ "name": "web", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "count": "hits" }, { "queue": "web" }] }],
  "flows": [{ "queue": "web", "priority": 3, "type": "all_default" }],
  "expect": { "counters": { "expected": [{ "packets": 0 }] } }
}
`;

const USED = `{
  "flowsteer": 1, "queues": [{"name":"web"}],
  "counters": [
    { "name": "hits" },
    { "name": "expected" }
  ],
  "actions": [],
  "tables": [{ "name": "root", "level": 0 }],
  "rules": [{ "name": "web", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "count": "hits" }, { "queue": "web" }] }],
  "flows": [{ "queue": "web", "type": "all_default" }],
  "expect": { "counters": { "expected": [{ "packets": 0 }] } }
}
`;

describe("--fix", () => {
  it("writes the file back with the smallest edits, and prints them", async () => {
    const file = scratch("unused.json", UNUSED);
    const { code, out } = await flowsteer(["check", file, "--fix", "--quiet"]);
    expect(code).toBe(0);
    expect(read(file)).toBe(USED);
    expect(out.split("\n").filter((line) => line.includes("fixed"))).toEqual([
      expect.stringContaining("fixed priority-ignored flows[0]"),
      expect.stringContaining("fixed unused-counter counters[0]"),
      expect.stringContaining("fixed unused-counter counters[3]"),
      expect.stringContaining("fixed unused-action actions[0]"),
    ]);
    // An expectation names the counter that stays, so it is a finding still.
    expect(out).toContain("note unused-counter counters[1]");
  });

  it("leaves a file with errors alone", async () => {
    const text = UNUSED.replace('"level": 0', '"level": "none"');
    const file = scratch("errors.json", text);
    expect((await flowsteer(["check", file, "--fix"])).code).toBe(2);
    expect(read(file)).toBe(text);
  });

  it("repairs every planted fault that has a repair", async () => {
    for (const name of readdirSync(PLANTED).filter((one) => /^(unused|priority)/.test(one))) {
      const text = read(join(PLANTED, name));
      const before = await checkFile(name, text);
      const { text: repaired, fixed } = await fixedText(before);
      const repairable = before.findings.filter(({ fix }) => fix !== null);
      expect(fixed, name).toEqual(repairable);
      if (fixed.length === 0) continue;
      // Another object may have lost its last use.
      const { findings } = await checkFile(name, repaired);
      expect(findings.map(({ id, sentence }) => `${id} ${sentence}`)).not.toContain(
        `${fixed[0]?.id} ${fixed[0]?.sentence}`,
      );
    }
  });
});

describe("rules of other programs", () => {
  it("have the order of their list in ClassBench", async () => {
    const lines = ["10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/16"].map((from) => {
      const ports = "0 : 65535\t80 : 80\t0x06/0xFF\t0x0000/0x0000";
      return `@${from}\t${from === "10.0.0.0/8" ? "192.0.2.0/24" : "0.0.0.0/0"}\t${ports}\t\n`;
    });
    const { out } = await flowsteer(["check", scratch("list.txt", lines.join("")), "--quiet"]);
    expect(out).toContain("list.txt:3:1: warning duplicate-rule");
    expect(out).not.toContain("order-dependent");
    const order = JSON.parse((await flowsteer(["import", scratch("list.txt", lines.join(""))])).out) as object;
    const written = await flowsteer(["check", scratch("list.json", JSON.stringify(order)), "--quiet"]);
    expect(written.out).toContain("order-dependent");
  });

  it("get no finding about rules of the import itself", async () => {
    // The driver's own rules for the receivers of a port overlap.
    const { out } = await flowsteer(["check", "test/import/corpus/testpmd/conntrack.txt", "--lenient", "--quiet"]);
    expect(out).not.toContain("rss 1");
    // Flows that do what a table without flows does.
    for (const name of ["ovs/system-dpdk-offloads.txt", "ethtool/af-xdp.txt"]) {
      const checked = await flowsteer(["check", `test/import/corpus/${name}`, "--lenient", "--quiet"]);
      expect(checked.out, name).not.toContain("redundant-rule");
    }
  });
});
