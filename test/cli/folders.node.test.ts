/** Folders that the command makes for its output, or cannot make: one line and exit code 3. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../src/cli/output/folder.js";
import { flowsteer, scratch } from "./support/command.js";

const RECORDERS = ["flowsteer-record-rte.c", "flowsteer-record-rte.h", "flowsteer-record.c", "flowsteer-record.h"];

/** Commands that write to a folder. */
const COMMANDS: readonly [string, (folder: string) => string[]][] = [
  ["record", (folder) => ["record", folder, "--quiet"]],
  ["run --out", (folder) => ["run", "examples/everyday.json", "examples/everyday.pcap", "--quiet", "--out", folder]],
  ["cover --out", (folder) => ["cover", "examples/everyday.json", "--quiet", "--out", folder]],
];

it("makes folders that are missing, and takes those that are there", async () => {
  const folder = join(scratch("made"), "above", "below");
  for (let time = 0; time < 2; time++) {
    expect(await flowsteer(["record", folder, "--quiet"])).toEqual({ code: 0, out: "", err: "" });
    expect(readdirSync(folder).sort()).toEqual(RECORDERS);
  }
});

it("makes what comes after .. too", () => {
  const folder = scratch("dots");
  makeFolder(`${folder}/missing/../made/`);
  expect(readdirSync(folder).sort()).toEqual(["made", "missing"]);
});

it.each(COMMANDS)("%s: a file in the way", async (name, args) => {
  const file = scratch(`${name.replaceAll(" ", "")}-file`, "");
  const refused = (folder: string, why: string): object => ({
    code: 3,
    err: `flowsteer: ${folder}: the file cannot be written: ${why}\n`,
  });
  const below = join(file, "below");
  expect(await flowsteer(args(file))).toMatchObject(refused(file, "a file of this name already exists"));
  expect(await flowsteer(args(below))).toMatchObject(refused(below, "a part of the path is a file, not a folder"));
});

// Where the folder above exists, Node's recursive mkdir repeats for ever what ends with ENOENT.
it.skipIf(!existsSync("/proc/self")).each(COMMANDS)("%s: a file system without new folders", async (_, args) => {
  for (const folder of ["/proc/flowsteer", "/proc/flowsteer/below"]) {
    const { code, err } = await flowsteer(args(folder));
    const why = "mkdir /proc/flowsteer: ENOENT; its file system does not accept new folders";
    expect({ code, err }).toEqual({ code: 3, err: `flowsteer: ${folder}: the file cannot be written: ${why}\n` });
  }
});
