/** Files that the command writes: no input is overwritten, and nothing is emptied by a command that is refused. */
import { linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { flowsteer, root, scratch } from "./support/command.js";

const RULES = "examples/everyday.json";
const BYTES = readFileSync(join(root, "examples/everyday.pcap"));

let made = 0;
function folder(): string {
  const path = scratch(`outputs-${++made}`);
  mkdirSync(path);
  return path;
}

describe("an input under another name", () => {
  it.each<[string, (from: string, to: string) => void]>([
    ["a symbolic link", symlinkSync],
    ["a hard link", linkSync],
  ])("%s is not written", async (_, link) => {
    const here = folder();
    const [capture, other] = [join(here, "in.pcap"), join(here, "out.pcap")];
    writeFileSync(capture, BYTES);
    link(capture, other);
    for (const options of [
      ["--format", "csv", "--output", other],
      ["--annotate", other],
    ]) {
      const { code, err } = await flowsteer(["run", RULES, capture, "--quiet", ...options]);
      expect(code).toBe(3);
      expect(err).toContain("this run reads it; choose another file");
      expect(readFileSync(capture)).toEqual(BYTES);
    }
    const first = join(here, "qp-control.pcapng");
    link(capture, first);
    const { code, err } = await flowsteer(["run", RULES, capture, "--quiet", "--out", here]);
    expect([code, readFileSync(capture).equals(BYTES)]).toEqual([3, true]);
    expect(err).toContain("it is a capture of this run; choose another folder for --out");
  });
});

describe("an older file", () => {
  it.each([
    ["--annotate into no folder", (here: string) => ["--annotate", join(here, "none/a.pcapng")]],
    ["--out where a file is", (here: string) => ["--out", join(here, "file")]],
    ["--annotate into the same file", (here: string) => ["--annotate", join(here, "rows.csv")]],
  ])("stays as it was: %s", async (_, options) => {
    const here = folder();
    const rows = join(here, "rows.csv");
    writeFileSync(rows, "older\n");
    writeFileSync(join(here, "file"), "");
    const args = ["run", RULES, "examples/everyday.pcap", "--quiet", "--format", "csv", "--output", rows];
    const { code } = await flowsteer([...args, ...options(here)]);
    expect(code).not.toBe(0);
    expect(readFileSync(rows, "utf8")).toBe("older\n");
  });

  it("is replaced as a whole by a shorter one", async () => {
    const rows = join(folder(), "rows.csv");
    const args = ["run", RULES, "examples/everyday.pcap", "--quiet", "--format", "csv", "--output", rows];
    expect((await flowsteer(args)).code).toBe(0);
    const whole = readFileSync(rows, "utf8");
    writeFileSync(rows, `${whole}${whole}`);
    expect((await flowsteer(args)).code).toBe(0);
    expect(readFileSync(rows, "utf8")).toBe(whole);
    // Rows of no frame are a head.
    expect((await flowsteer([...args, "--limit", "1"])).code).toBe(0);
    expect(readFileSync(rows, "utf8").split("\n")).toHaveLength(3);
  });
});

it("queues with names longer than a file's have files of their own", async () => {
  const names = [`${"q".repeat(400)}a`, `${"q".repeat(400)}b`];
  const match = (port: number): object => ({ "outer.tcp_dport": port });
  const rules = names.map((queue, n) => ({ name: `r${n}`, table: "root", match: match(80 + n), actions: [{ queue }] }));
  const frames = names.map((_, n) => ({
    headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 80 + n }],
  }));
  const tables = [{ name: "root", level: 0 }];
  const file = scratch(
    "long.json",
    JSON.stringify({ flowsteer: 1, queues: names.map((name) => ({ name })), tables, rules, frames }),
  );
  const here = folder();
  const { code } = await flowsteer(["run", file, "--quiet", "--out", here]);
  expect(code).toBe(0);
  expect(readdirSync(here)).toHaveLength(2);
});
