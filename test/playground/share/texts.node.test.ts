/** Programs, tests and rows that the page gives away: what they say is what the command says. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsFile, testFile, type Source } from "../../../playground/src/share/out/steering.js";
import { fileName, programText } from "../../../playground/src/share/out/texts.js";
import { flowsteer, root } from "../../cli/support/command.js";
import { DEEP } from "../../support/tier.js";

const run = promisify(execFile);
const CORE = new URL("../../../build/release/core.wasm", import.meta.url);
const SILENT = (): void => undefined;

/** Inside the package, so that programs import it by name. */
let folder: string;
beforeAll(() => {
  mkdirSync(join(root, "build"), { recursive: true });
  folder = mkdtempSync(join(root, "build/given-away-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function sourceOf(name: string, capture: string | null = null): Source {
  return {
    rules: readFileSync(join(root, `examples/${name}.json`), "utf8"),
    name,
    capture:
      capture === null ? null : { name: capture, file: new Blob([readFileSync(join(root, `examples/${capture}`))]) },
  };
}

const ALL_EXAMPLES: [string, string | null][] = [
  ["why-vxlan", null],
  ["flows-sending", null],
  ["messages", null],
  ["everyday", "everyday.pcap"],
  ["flows-strongswan", "strongswan.pcap"],
];

const EXAMPLES = ALL_EXAMPLES.filter(([name]) => DEEP || ["messages", "everyday"].includes(name));

describe("rows", () => {
  it.each(EXAMPLES)("of %s %s are those of the command", async (name, capture) => {
    for (const format of ["csv", "ndjson"] as const) {
      const { out } = await flowsteer([
        "run",
        `examples/${name}.json`,
        ...(capture === null ? [] : [`examples/${capture}`]),
        "--format",
        format,
      ]);
      expect(await (await rowsFile(sourceOf(name, capture), format, CORE, SILENT)).text()).toBe(out);
    }
  });
});

describe("a program", () => {
  it.each(EXAMPLES)("of %s %s prints what happened to each frame", async (name, capture) => {
    const { rules } = sourceOf(name);
    const file = join(folder, `${fileName(name)}.ts`);
    writeFileSync(file, programText(rules, name, capture === null ? null : join(root, "examples", capture)));
    const { stdout } = await run(process.execPath, ["--import", "tsx", file], { cwd: root });
    const rows = await (await rowsFile(sourceOf(name, capture), "ndjson", CORE, SILENT)).text();
    const wanted = rows
      .trimEnd()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { frame: number; verdict: string; reason: string | null })
      .map(({ frame, verdict, reason }) => `${frame}: ${verdict}${reason === null ? "" : ` (${reason})`} {`);
    expect(
      stdout
        .split("\n")
        .filter((line) => /^\d+: /.test(line))
        .map((line) => line.replace(/\{.*/, "{")),
    ).toEqual(wanted);
  });
});

describe("a test", () => {
  it("passes as it is, of all frames and of one, and fails under other rules", async () => {
    const wanted: [string, string | null, number | null][] = [
      ["why-vxlan", null, null],
      ["why-vxlan", null, 2],
      ["why-meter", null, 3],
      ["state-meter", null, null],
      ["everyday", "everyday.pcap", null],
      ["everyday", "everyday.pcap", 17],
    ];
    const texts = new Map<string, string>();
    for (const [name, capture, frame] of wanted) {
      const text = await testFile(sourceOf(name, capture), frame, CORE, SILENT);
      texts.set(`${fileName(name)}-${frame ?? "all"}.test.ts`, text);
    }
    // A meter remembers the frames before: they are in the test. Where nothing remembers, one frame is enough.
    expect(texts.get("why-meter-3.test.ts")).toContain("slice(0, 3)");
    expect(texts.get("why-vxlan-2.test.ts")).toContain("slice(1, 2)");
    expect(texts.get("everyday-17.test.ts")?.match(/hex\("/g)?.length).toBe(1);
    const failing = texts.get("why-vxlan-all.test.ts")?.replace('"misc.vxlan_vni": 5001', '"misc.vxlan_vni": 5009');
    texts.set("failing.test.ts", failing ?? "");
    for (const [name, text] of texts) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "vitest.config.mjs"), "export default { test: { include: ['*.test.ts'] } };");
    const { stdout } = await run(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, "--reporter=json"],
      { cwd: folder, env: { ...process.env, VITEST: undefined } },
    ).catch((error: unknown) => error as { stdout: string });
    const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
      testResults: { name: string; status: string; message: string }[];
    };
    const ended = Object.fromEntries(report.testResults.map(({ name, status }) => [name.split("/").at(-1), status]));
    expect(ended).toEqual(
      Object.fromEntries([...texts.keys()].map((name) => [name, name === "failing.test.ts" ? "failed" : "passed"])),
    );
  });

  it("is refused for too many frames, and for a frame that there is not", async () => {
    const frames = Array.from({ length: 2001 }, () => ({ hex: "00".repeat(20) }));
    const rules = JSON.stringify({ flowsteer: 1, frames });
    const source = { rules, name: "many", capture: null };
    await expect(testFile(source, null, CORE, SILENT)).rejects.toThrow("select a frame");
    expect(await testFile(source, 2000, CORE, SILENT)).toContain("slice(1999, 2000)");
    await expect(testFile(source, 3000, CORE, SILENT)).rejects.toThrow("Frame 3000 cannot be steered.");
  });
});

describe("strange names", () => {
  it("stay data", async () => {
    const name = '*/ process.exit(1); // `${x}` \u2028 "';
    const rules = JSON.stringify({
      flowsteer: 1,
      queues: [{ name: '</script>${1}`"\u2028' }],
      frames: [{ name, hex: "00".repeat(20) }],
    });
    const file = join(folder, "strange.ts");
    writeFileSync(file, programText(rules, name, null));
    const { stdout } = await run(process.execPath, ["--import", "tsx", file], { cwd: root });
    expect(stdout).toMatch(/^1: miss/);
    expect(fileName(name)).toMatch(/^[\w.-]+$/);
    expect(fileName("../../.ssh/..")).toBe("ssh");
    const proto = programText('{"flowsteer":1,"__proto__":{"queues":[]}}', "a", null);
    expect(proto).toContain("JSON.parse(");
  });
});
