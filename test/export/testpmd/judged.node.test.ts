/** What DPDK's testpmd says of commands (test/golden/testpmd.json, made by scripts/golden-testpmd.mjs). */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { judgedCommands } from "./commands.js";

const JUDGED = JSON.parse(readFileSync(new URL("../../golden/testpmd.json", import.meta.url), "utf8")) as Readonly<
  Record<string, boolean>
>;

test("testpmd was asked about every command", () => {
  expect(judgedCommands().filter((command) => JUDGED[command] === undefined)).toEqual([]);
});

test("commands that testpmd does not read are refused, and no exported one is among them", () => {
  const taken = judgedCommands().filter((command) => {
    const { findings } = importRules(command, { format: "testpmd", lenient: true });
    return findings.every(({ severity }) => severity !== "refused");
  });
  expect(taken.length).toBeGreaterThan(50);
  // DPDK 23.07 has user_id; the answers are those of 22.11.
  expect(taken.filter((command) => JUDGED[command] === false && !command.includes("user_id"))).toEqual([]);
});
