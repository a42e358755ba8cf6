/**
 * The way of rules through C: exported, compiled without warnings, run with stand-ins for the libraries under the recorder,
 * imported. What comes back treats frames as the scenario does.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { behaviourOf } from "../../export/support/behaviour.js";
import { nearFrame, randomRules } from "../../export/support/randomRules.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const HEADERS = "/usr/include/infiniband/mlx5dv.h";
const hasHeaders = existsSync(HEADERS);
if (!hasHeaders) console.warn(`programs are not recorded: no ${HEADERS} (Debian: libibverbs-dev)`);

const FRAMES = 200;
const STRICT = ["-Wall", "-Wextra", "-Werror"];
const folder = mkdtempSync(join(tmpdir(), "flowsteer-record-"));
afterAll(() => rmSync(folder, { recursive: true }));

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const made = (name: string): string => join(folder, name);

function compile(...args: readonly string[]): void {
  execFileSync("gcc", args, { stdio: ["ignore", "ignore", "inherit"] });
}

/** The recording of a program that makes the scenario's rules. */
function recorded(program: string): string {
  writeFileSync(made("program.c"), program);
  compile(...STRICT, made("program.c"), "-o", made("program"), `-L${folder}`, "-lstandin", `-Wl,-rpath,${folder}`);
  rmSync(made("calls.jsonl"), { force: true });
  const env = { ...process.env, FLOWSTEER_RECORD: made("calls.jsonl"), LD_PRELOAD: made("librecord.so") };
  execFileSync(made("program"), { input: "\n", env, stdio: ["pipe", "ignore", "inherit"] });
  return readFileSync(made("calls.jsonl"), "utf8");
}

/** The numbers of the stand-ins' queue pairs, in the order of the scenario. */
function queueNames({ queues = [] }: Scenario, text: string): Record<string, string> {
  const numbers = [...text.matchAll(/"qp_num":(\d+)/g)].map(([, number]) => number);
  return Object.fromEntries(queues.map(({ name }, n) => [`qp ${numbers[n]}`, name]));
}

describe.runIf(hasHeaders)("through C and back", () => {
  compileOnce();

  test("random rules", { timeout: 600_000 }, async () => {
    const random = new Random(seedFor("recorded programs"));
    for (let round = 0; round < rounds(4); round++) {
      const scenario = randomRules(random);
      const { text, findings } = exportRules(scenario, { format: "c" });
      expect(findings).toEqual([]);
      await compare(scenario, recorded(text ?? ""), random);
    }
  });

  test("destroyed objects are gone, and failed calls made nothing", () => {
    const calls = recorded(exportRules(randomRules(new Random(1)), { format: "c" }).text ?? "").split("\n");
    const first = calls.find((line) => line.includes("mlx5dv_dr_rule_create")) ?? "";
    const { returns } = JSON.parse(first) as { returns: string };
    const end = calls.findIndex((line) => line.includes("_destroy"));
    const before = importRules(calls.slice(0, end).join("\n"), { lenient: true }).scenario?.rules?.length ?? 0;
    const changed = [
      ...calls.slice(0, end),
      `{"call":"mlx5dv_dr_rule_destroy","rule":"${returns}","returns":0}`,
      '{"call":"mlx5dv_dr_table_create","domain":"0x1","level":1,"returns":null,"errno":22}',
    ].join("\n");
    const { scenario, findings } = importRules(changed, { lenient: true });
    expect(scenario?.rules?.length).toBe(before - 1);
    expect(findings.at(-1)?.reason).toBe("the call failed with errno 22: it made nothing");
  });
});

function compileOnce(): void {
  if (!hasHeaders) return;
  const shared = ["-shared", "-fPIC"];
  const recorder = here("../../../src/cli/record/flowsteer-record.c");
  compile(...STRICT, ...shared, recorder, "-o", made("librecord.so"), "-ldl");
  compile(...STRICT, ...shared, here("support/standin.c"), "-o", made("libstandin.so"));
}

async function compare(scenario: Scenario, calls: string, random: Random): Promise<void> {
  const { scenario: back, findings } = importRules(calls, { map: queueNames(scenario, calls) });
  expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  const [one, other] = [await loadScenario(scenario), await loadScenario(back as Scenario)];
  for (let n = 0; n < FRAMES; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(other.device, frame), JSON.stringify(scenario)).toBe(behaviourOf(one.device, frame));
  }
}
