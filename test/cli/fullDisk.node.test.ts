/** Files that the command cannot write to their end: it names the file. Half of one stays of rows and captures only. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { flowsteer, root, scratch } from "./support/command.js";

const SCENARIO = "examples/everyday.json";
const CAPTURE = "examples/everyday.pcap";
const DUMP = "examples/fdb-dump.csv";
const FULL = "/dev/full";
const RUN = ["run", SCENARIO, CAPTURE, "--quiet"];
const IMPORT = ["import", DUMP, "--lenient", "--quiet"];
const EXPORT = ["export", SCENARIO, "--format", "c", "--lenient", "--quiet"];

/** A folder with these files. */
function folder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const path = scratch(name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

/** A folder in which this file is a full device. */
function fullFile(name: string, file: string): string {
  const path = folder(name);
  symlinkSync(FULL, join(path, file));
  return path;
}

describe.skipIf(!existsSync(FULL))("a full device is one line and exit code 3", () => {
  it.each<[string, () => { args: string[]; file: string }]>([
    ["run --format csv", () => ({ args: [...RUN, "--format", "csv", "--output", FULL], file: FULL })],
    ["run --format ndjson", () => ({ args: [...RUN, "--format", "ndjson", "--output", FULL], file: FULL })],
    ["run --format parquet", () => ({ args: [...RUN, "--format", "parquet", "--output", FULL], file: FULL })],
    ["run --annotate", () => ({ args: [...RUN, "--annotate", FULL], file: FULL })],
    [
      "run --out",
      () => {
        const path = fullFile("run-out", "qp-control.pcapng");
        return { args: [...RUN, "--out", path], file: join(path, "qp-control.pcapng") };
      },
    ],
    [
      "cover --out",
      () => {
        const path = fullFile("cover-out", "cover.json");
        return { args: ["cover", SCENARIO, "--quiet", "--out", path], file: join(path, "cover.json") };
      },
    ],
    ["import --output", () => ({ args: [...IMPORT, "--output", FULL], file: FULL })],
    ["export --output", () => ({ args: [...EXPORT, "--output", FULL], file: FULL })],
    [
      "record",
      () => {
        const path = fullFile("record-full", "flowsteer-record.c");
        return { args: ["record", path, "--quiet"], file: join(path, "flowsteer-record.c") };
      },
    ],
  ])("%s", async (_, make) => {
    const { args, file } = make();
    const { code, err } = await flowsteer(args);
    expect(code).toBe(3);
    // What an import or an export leaves out is told before.
    expect(err.split("\n").at(-2)).toBe(
      `flowsteer: ${file}: the file cannot be written: no space is left on the device`,
    );
  });

  it.each([
    [...RUN, "--json"],
    [...RUN, "--format", "parquet"],
    [...RUN, "--annotate", "-"],
    ["trace", SCENARIO, CAPTURE, "--frame", "3", "--json"],
    ["why", SCENARIO, CAPTURE, "--all", "--json"],
    ["cover", SCENARIO, "--json"],
    ["diff", SCENARIO, "examples/tunnel.json", "--json"],
    ["parse", CAPTURE, "--json"],
    ["check", SCENARIO, "--json"],
    IMPORT,
    EXPORT,
    ["fields"],
  ])("standard output: %s", (...args) => {
    const command = 'exec node dist/cli.js "$@" 2>&1 >/dev/full';
    const { status, stdout } = spawnSync("sh", ["-c", command, "sh", ...args], { cwd: root, encoding: "utf8" });
    expect(stdout.split("\n").at(-2)).toBe(
      "flowsteer: standard output: the file cannot be written: no space is left on the device",
    );
    expect(status).toBe(3);
  });
});

describe.skipIf(process.platform === "win32")("a file that may not be so long is left as it was", () => {
  /** Runs the command, whose files may have so many blocks of 512 bytes. */
  const limited = (blocks: number, ...args: string[]): { status: number | null; stderr: string } =>
    spawnSync("sh", ["-c", `ulimit -f ${blocks}; exec node dist/cli.js "$@"`, "sh", ...args], {
      cwd: root,
      encoding: "utf8",
      input: "",
    });
  const OLD = "an older file\n";
  const LONG = "the file is too large";

  it.each<[string, string, (path: string) => string[]]>([
    ["import --output", "rules.json", (path) => [...IMPORT, "--output", join(path, "rules.json")]],
    ["export --output", "rules.c", (path) => [...EXPORT, "--output", join(path, "rules.c")]],
    ["record", "flowsteer-record.c", (path) => ["record", path, "--quiet"]],
  ])("%s", (name, file, args) => {
    for (const files of [{}, { [file]: OLD }]) {
      const path = folder(`${name} ${Object.keys(files).length}`.replaceAll(" ", "-"), files);
      const { status, stderr } = limited(1, ...args(path));
      const why = `flowsteer: ${join(path, file)}: the file cannot be written: ${LONG}`;
      expect({ status, why: stderr.split("\n").at(-2) }).toEqual({ status: 3, why });
      expect(readdirSync(path)).toEqual(Object.keys(files));
      if (file in files) expect(readFileSync(join(path, file), "utf8")).toBe(OLD);
    }
  });

  it.each<[string, (path: string) => string[], string]>([
    ["run --format csv", (path) => [...RUN, "--format", "csv", "--output", join(path, "rows")], "rows"],
    ["run --annotate", (path) => [...RUN, "--annotate", join(path, "rows")], "rows"],
    ["run --out", (path) => [...RUN, "--out", path], "qp-control.pcapng"],
  ])(
    "%s: rows that others may read while they are written stay, and the error says how many bytes",
    (name, args, file) => {
      const path = folder(`cut-${name}`.replaceAll(" ", "-"));
      const { status, stderr } = limited(1, ...args(path));
      const why = `flowsteer: ${join(path, file)}: the file cannot be written: ${LONG}; what was written ends after 512 bytes`;
      expect({ status, why: stderr.split("\n").at(-2) }).toEqual({ status: 3, why });
      expect(statSync(join(path, file)).size).toBe(512);
    },
  );

  it("check --fix", () => {
    const description = "long ".repeat(1000);
    const text = JSON.stringify({ flowsteer: 1, description, queues: [{ name: "q" }], counters: [{ name: "unused" }] });
    const path = folder("fix", { "rules.json": text });
    const file = join(path, "rules.json");
    const { status, stderr } = limited(1, "check", file, "--fix");
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: `flowsteer: ${file}: the file cannot be written: ${LONG}\n`,
    });
    expect(readdirSync(path)).toEqual(["rules.json"]);
    expect(readFileSync(file, "utf8")).toBe(text);
    execFileSync("node", ["dist/cli.js", "check", file, "--fix", "--fail-on", "never"], { cwd: root });
    expect(readFileSync(file, "utf8")).not.toContain("unused");
  });

  it("extcap --install", () => {
    const path = folder("extcap");
    const { status, stderr } = limited(0, "extcap", "--install", path);
    const why = `flowsteer: ${join(path, "flowsteer")}: the file cannot be written: ${LONG}\n`;
    expect({ status, stderr }).toEqual({ status: 3, stderr: why });
    expect(readdirSync(path)).toEqual([]);
  });

  it("serve --snapshot", () => {
    const path = folder("snapshot", { "end.snapshot": OLD });
    const file = join(path, "end.snapshot");
    const { status, stderr } = limited(1, "serve", "examples/serve-switch.json", "--control", "-", "--snapshot", file);
    expect(status).toBe(1);
    expect(stderr).toContain(file);
    expect(stderr).toMatch(/EFBIG/);
    expect(readdirSync(path)).toEqual(["end.snapshot"]);
    expect(readFileSync(file, "utf8")).toBe(OLD);
  });
});
