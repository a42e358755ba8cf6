/**
 * The way of rules through C: exported, compiled without warnings, run with stand-ins for the libraries under the recorder,
 * imported. What comes back treats frames as the scenario does.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
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

const SHARED = ["-shared", "-fPIC"];
/** The name by which the recorder finds the library. */
const NAMED = ["-Wl,-soname,libibverbs.so.1"];
/** Flags of programs that use the stand-ins. */
const STANDIN = [`-L${folder}`, "-lstandin", `-Wl,-rpath,${folder}`];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const made = (name: string): string => join(folder, name);

function compile(...args: readonly string[]): void {
  execFileSync("gcc", args, { stdio: ["ignore", "ignore", "inherit"] });
}

/** The recording of a program, by its text in C. */
function recorded(program: string, ...args: readonly string[]): string {
  writeFileSync(made("program.c"), program);
  compile(...STRICT, made("program.c"), "-o", made("program"), ...STANDIN);
  return recordedRun(...args);
}

/** The recording of the program that was compiled last. */
function recordedRun(...args: readonly string[]): string {
  rmSync(made("calls.jsonl"), { force: true });
  const env = { ...process.env, FLOWSTEER_RECORD: made("calls.jsonl"), LD_PRELOAD: made("librecord.so") };
  // A file and not a pipe: a program that ends without reading its input would break the pipe.
  writeFileSync(made("input"), "\n");
  const input = openSync(made("input"), "r");
  execFileSync(made("program"), args, { env, stdio: [input, "ignore", "inherit"] });
  closeSync(input);
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

  describe("flow actions, work queues and TIRs", () => {
    const program = (): string => readFileSync(here("support/flowActions.c"), "utf8");
    const tcp = buildFrame([
      { header: "ethernet" },
      { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
      { header: "tcp", source_port: 1000, destination_port: 80, flags: "syn" },
    ]);
    const udp = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 80 }]);

    test("become those of the scenario", async () => {
      const { scenario, findings } = importRules(recorded(program()));
      expect(findings).toEqual([]);
      expect(scenario?.tirs).toMatchObject([
        {
          name: "tir",
          rqt: "rqt",
          rx_hash_fn: "toeplitz",
          rx_hash_symmetric: true,
          rx_hash_toeplitz_key: Array.from({ length: 40 }, (_, n) => (0x6d + n).toString(16)).join(""),
          rx_hash_field_selector_outer: { selected_fields: ["src_ip", "dst_ip", "l4_sport", "l4_dport"] },
        },
        { name: "tir 2", queue: "rq 515" },
      ]);
      expect(scenario?.rqts).toEqual([{ name: "rqt", queues: ["rq 513", "rq 514"] }]);
      expect(scenario?.flowActions).toMatchObject([
        { name: "changes", modify: ["100a000800000009"] },
        {
          name: "esp",
          esp: {
            direction: "decrypt",
            mode: "transport",
            key: "5a".repeat(16),
            salt: "c3".repeat(4),
            spi: "0x7",
            seq: 1,
            replay: 64,
            hardLimit: 1000,
          },
        },
      ]);
      expect(scenario?.flows?.[0]?.specs?.at(-1)).toEqual({ action: "esp" });
      const loaded = await loadScenario(scenario as Scenario);
      const to = (bytes: Uint8Array) => loaded.run([{ bytes }])[0]?.to ?? [];
      // The TTL is byte 22.
      expect(to(tcp).map(({ name, frame }) => [/^qp:rq 51[34]$/.test(name), frame[22]])).toEqual([[true, 9]]);
      expect(to(udp).map(({ name }) => name)).toEqual(["qp:rq 515"]);
    });

    test("an action that is changed later is refused", () => {
      const { scenario, findings } = importRules(recorded(program(), "MODIFY"), { lenient: true });
      expect(findings.map(({ reason }) => reason)).toEqual([
        "ESP actions have the parameters with which they were created",
      ]);
      expect(scenario?.notImported).toHaveLength(1);
    });

    test("a TIR of a queue that is not in the recording is refused, and what names it", () => {
      const calls = recorded(program()).replaceAll(/^.*"call":"ibv_create_wq".*$/gm, "");
      const { scenario, findings } = importRules(calls, { lenient: true });
      expect(findings.map(({ reason }) => reason)).toEqual([
        "the receive queue 513 is not in the recording",
        "the RQT 49 is not in the recording",
        "the receive queue 515 is not in the recording",
        "the object that it names is not in the scenario",
        "the object that it names is not in the scenario",
      ]);
      expect(scenario?.tirs).toBeUndefined();
    });
  });

  test("a library that was opened privately, and a flow with more specs than it holds", () => {
    const source = here("support/plugin.c");
    compile(...STRICT, ...SHARED, "-DPLUGIN", source, "-o", made("plugin.so"), ...STANDIN);
    compile(...STRICT, source, "-o", made("program"), "-ldl");
    const calls = recordedRun(made("plugin.so"));
    expect(calls).toContain('{"call":"ibv_create_qp",');
    const [, flow = ""] = /"flow":"([^"]*)"/.exec(calls) ?? [];
    // The attributes and one spec.
    expect(flow).toHaveLength(2 * (20 + 16));
    expect(importRules(calls, { lenient: true }).findings).toHaveLength(1);
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
    expect(findings.at(-1)?.reason).toBe("the call failed with errno 22: it created nothing");
  });
});

function compileOnce(): void {
  if (!hasHeaders) return;
  const recorder = here("../../../native/flowsteer-record.c");
  compile(...STRICT, ...SHARED, recorder, "-o", made("librecord.so"), "-ldl");
  compile(...STRICT, ...SHARED, ...NAMED, here("support/standin.c"), "-o", made("libstandin.so"));
  symlinkSync("libstandin.so", made("libibverbs.so.1"));
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
