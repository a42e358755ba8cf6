/**
 * Recordings of DPDK programs (native/flowsteer-record-rte.c). testpmd is the program: it reads a text into the structs of
 * rte_flow, the recorder writes these as a text, and both texts must import alike. So DPDK's own parser is a second
 * opinion on ours.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { randomRules } from "../../export/support/randomRules.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const flags = spawnSync("pkg-config", ["--cflags", "libdpdk"], { encoding: "utf8" });
const hasDpdk = flags.status === 0 && spawnSync("dpdk-testpmd", ["-v"]).error === undefined;
if (!hasDpdk)
  console.warn("DPDK programs are not recorded: no dpdk-testpmd, or no libdpdk (Debian: dpdk, libdpdk-dev)");

const folder = mkdtempSync(join(tmpdir(), "flowsteer-record-rte-"));
const made = (name: string): string => join(folder, name);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
afterAll(() => rmSync(folder, { recursive: true }));

const CORPUS = here("../corpus/testpmd");
const PORTS = 4;
const QUEUES = 8;
/** Its connection is that of the last text, which testpmd keeps. */
const IS_LEFT_OUT = /^conntrack\.txt$/;
/** A command that no text has, between the texts and their lines. */
const MARK = `flow isolate ${PORTS - 1} 1`;
const RECORDED_MARK = `flow isolate ${PORTS - 1} on\n`;
const COMMAND =
  /^(?:flow (?:create|configure|indirect_action|isolate|pattern_template|actions_template|template_table|queue \d+ create)|set (?:vxlan|nvgre|raw_|l2_|mpls|sample_|conntrack)|add port meter|create port meter)/;
/** Commands that say what later ones have: they call nothing. */
const IS_SETTING = /^(?:set|flow configure)\b/;

function compile(...args: readonly string[]): void {
  const dpdk = flags.stdout.trim().split(/\s+/);
  execFileSync("gcc", ["-Wall", "-Wextra", "-Werror", ...dpdk, ...args], { stdio: ["ignore", "ignore", "inherit"] });
}

/** What the recorder writes of each command; "" of one that testpmd refuses, or that calls nothing. */
function recordings(commands: readonly string[], preload = [made("record.so"), made("ports.so")]): string[] {
  rmSync(made("flows"), { force: true });
  const env = {
    ...process.env,
    FLOWSTEER_RECORD: made("flows"),
    LD_PRELOAD: preload.join(" "),
  };
  const eal = ["--no-huge", "--no-pci", "-m", "256", `--file-prefix=record${process.pid}`];
  const vdevs = Array.from({ length: PORTS }, (_, port) => `--vdev=net_null${port}`);
  writeFileSync(made("input"), `${commands.map((one) => `${one}\n${MARK}\n`).join("")}quit\n`);
  execFileSync(
    "dpdk-testpmd",
    [...eal, ...vdevs, "--", "-i", "--total-num-mbufs=2048", `--rxq=${QUEUES}`, `--txq=${QUEUES}`],
    {
      env,
      input: readFileSync(made("input")),
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  const text = readFileSync(made("flows"), "utf8").replace(/^#.*\n/, "");
  return text.split(RECORDED_MARK).slice(0, commands.length);
}

interface Pair {
  readonly typed: string;
  readonly recorded: string;
}

/** Texts of commands and their recordings, without commands that testpmd refuses. */
function pairs(texts: readonly (readonly string[])[]): Pair[] {
  const all = recordings(texts.flat());
  let next = 0;
  return texts.map((lines) => {
    const records = lines.map((line) => ({ line, record: all[next++] ?? "" }));
    const taken = records.filter(({ line, record }) => record !== "" || IS_SETTING.test(line));
    return {
      typed: taken.map(({ line }) => line).join("\n"),
      recorded: records.map(({ record }) => record).join(""),
    };
  });
}

/** What an import makes, without places in the text and the numbers of indirect actions. */
function imported(text: string): unknown {
  const { scenario, findings } = importRules(`port config all rxq ${QUEUES}\n${text}`, {
    format: "testpmd",
    lenient: true,
  });
  const refused = findings.filter(({ severity }) => severity === "refused").map(({ text: word }) => word);
  const made = JSON.stringify({ ...scenario, notImported: undefined }).replace(/conntrack \d+/g, "conntrack");
  return { scenario: JSON.parse(made) as unknown, refused };
}

/** The commands of a recording. */
const commandsIn = (text: string): string[] => text.split("\n").filter((line) => COMMAND.test(line));

describe.runIf(hasDpdk)("recordings of testpmd", () => {
  beforeAll(() => {
    compile("-shared", "-fPIC", here("../../../native/flowsteer-record-rte.c"), "-o", made("record.so"), "-ldl");
    compile("-shared", "-fPIC", here("support/acceptingPorts.c"), "-o", made("ports.so"));
  }, 60_000);

  test("texts of public programs", { timeout: 120_000 }, () => {
    const names = readdirSync(CORPUS).filter((name) => name.endsWith(".txt") && !IS_LEFT_OUT.test(name));
    const texts = names.map((name) =>
      readFileSync(join(CORPUS, name), "utf8")
        // DPDK's guide wraps its commands.
        .replace(/\n\s+(?=(?:last|sent|max)_)/g, " ")
        .split("\n")
        .map((line) => line.replace(/^\s*testpmd>\s*/, "").trim())
        .filter((line) => COMMAND.test(line)),
    );
    const both = pairs(texts);
    expect(both.filter(({ recorded }) => recorded !== "").length).toBeGreaterThan(50);
    both.forEach(({ typed, recorded }, n) => {
      expect.soft(imported(recorded), `${names[n]}:\n${typed}\n--\n${recorded}`).toEqual(imported(typed));
    });
  });

  test("random rules", { timeout: 300_000 }, () => {
    const random = new Random(seedFor("recordings of testpmd"));
    const texts = Array.from({ length: rounds(20) }, () => {
      const { text } = exportRules(randomRules(random), { format: "testpmd", lenient: true });
      return commandsIn(text ?? "");
    });
    const first = pairs(texts);
    for (const { typed, recorded } of first) expect(imported(recorded), typed).toEqual(imported(typed));
    const again = pairs(first.map(({ recorded }) => commandsIn(recorded)));
    expect(again.map(({ recorded }) => commandsIn(recorded))).toEqual(
      first.map(({ recorded }) => commandsIn(recorded)),
    );
  });

  test("rules that the driver refuses are not imported", () => {
    const [record = ""] = recordings(
      ["flow create 0 ingress pattern eth / end actions drop / end"],
      [made("record.so")],
    );
    const { scenario, findings } = importRules(record, { format: "testpmd", driver: "none" });
    expect(scenario?.rules ?? []).toEqual([]);
    expect(findings.map(({ reason }) => reason)).toContain("testpmd refused the command before it: it has no effect");
  });

  describe("a program that DPDK is linked into", () => {
    const program = (): string => here("support/program.c");
    const source = readFileSync(here("../../../native/flowsteer-record-rte.c"), "utf8");
    const wrapped = [...source.matchAll(/RECORDED\((rte_[a-z_]*)\)/g)].map(([, name]) => `-Wl,--wrap=${name}`);

    beforeAll(() => {
      const objects = [program(), here("support/acceptingPorts.c"), here("../../../native/flowsteer-record-rte.c")];
      const checks = ["-g", "-fsanitize=address,undefined", "-DFLOWSTEER_WRAP"];
      compile(...checks, ...objects, ...wrapped, "-o", made("program"), "-lrte_ethdev", "-lrte_eal");
    }, 60_000);

    function run(...args: readonly string[]): string {
      rmSync(made("calls"), { force: true });
      // The rules of the stand-in are never freed.
      const env = { ...process.env, FLOWSTEER_RECORD: made("calls"), ASAN_OPTIONS: "detect_leaks=0" };
      execFileSync(made("program"), args, { env, stdio: ["ignore", "ignore", "inherit"] });
      return readFileSync(made("calls"), "utf8");
    }

    test("has the rules that it had before its end", () => {
      const { scenario, findings } = importRules(run(), { driver: "none" });
      expect(scenario?.rules).toMatchObject([
        { name: "port 0 flow 1", match: { "outer.udp_dport": 53 }, actions: [{ table: "nic_rx group 1" }] },
        { name: "port 0 flow 2", match: { "outer.udp_dport": 53 }, actions: [{ queue: "queue 3" }] },
      ]);
      expect(findings.at(-1)).toMatchObject({
        text: "flow flush",
        reason: "the program ends here: the rules before are imported",
      });
    });

    test("is refused where testpmd has no word for a match", () => {
      const { scenario, findings } = importRules(run("checksum"), { driver: "none", lenient: true });
      expect(scenario?.rules?.length).toBe(2);
      expect(findings.filter(({ severity }) => severity === "refused").map(({ text }) => text)).toEqual(["bytes"]);
    });
  });
});
