/** flowsteer record: writes the sources of the libraries that record the steering calls of a program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readCommandLine } from "../commandLine.js";
import { NATIVE, RECORDERS } from "../native.js";
import { makeFolder } from "../output/folder.js";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage } from "../refusal.js";
import { printable } from "../text.js";

/** @returns the exit code */
export function record(args: readonly string[]): number {
  const { operands, flags } = readCommandLine(args, "record", {});
  const [folder = ".", ...others] = operands;
  if (others.length > 0) throw badUsage("record", "name one folder: flowsteer record [FOLDER]");
  const files = RECORDERS.map((name) => ({ path: join(folder, name), source: readFileSync(join(NATIVE, name)) }));
  makeFolder(folder);
  for (const { path, source } of files) writeOutput(path, source);
  if (!flags.has("quiet")) process.stdout.write(`${files.map(({ path }) => `${printable(path)}\n`).join("")}${NEXT}`);
  return 0;
}

const NEXT = `
A program with libibverbs:
  gcc -Wall -shared -fPIC -o libflowsteer-record.so flowsteer-record.c -ldl
  FLOWSTEER_RECORD=calls.jsonl LD_PRELOAD=./libflowsteer-record.so ./program
  flowsteer import calls.jsonl

A program with DPDK:
  gcc -Wall -shared -fPIC -o libflowsteer-record-rte.so flowsteer-record-rte.c $(pkg-config --cflags libdpdk) -ldl
  FLOWSTEER_RECORD=flows.testpmd LD_PRELOAD=./libflowsteer-record-rte.so ./program
  flowsteer import flows.testpmd
`;
