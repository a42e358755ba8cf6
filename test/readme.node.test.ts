/** The README tells the truth: its outputs are those of its commands and programs, its scenario is one. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseScenario } from "../src/scenario/index.js";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("outputs", () => {
  const script = new URL("../scripts/readme.mjs", import.meta.url).pathname;
  execFileSync(process.execPath, [script, "--check"], { stdio: ["ignore", "ignore", "pipe"] });
  expect(README.match(/<!-- output: /g)?.length).toBe(10);
});

test("scenarios, and rules of one", () => {
  const documents = [...README.matchAll(/```json\n(\{\n[\s\S]*?\n\})\n```/g)].map(([, text]) => text ?? "");
  const [scenario, rule] = documents as [string, string];
  expect(documents.length).toBe(2);
  expect(parseScenario(scenario).rules?.length).toBe(2);
  const tables = [{ name: "switch", level: 1, domain: "fdb" }];
  const around = { flowsteer: 1, tables, rules: [JSON.parse(rule) as unknown] };
  expect(parseScenario(JSON.stringify(around)).rules?.length).toBe(1);
});
