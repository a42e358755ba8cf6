/** flowsteer record: hands out the library that records the steering calls of a program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readCommandLine } from "../commandLine.js";
import { NATIVE } from "../native.js";
import { makeFolder } from "../output/folder.js";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage } from "../refusal.js";
import { printable } from "../text.js";

const FILE = "flowsteer-record.c";

/** @returns the exit code */
export function record(args: readonly string[]): number {
  const { operands, flags } = readCommandLine(args, "record", {});
  const [folder = ".", ...others] = operands;
  if (others.length > 0) throw badUsage("record", "name one folder: flowsteer record [FOLDER]");
  const path = join(folder, FILE);
  const source = readFileSync(join(NATIVE, FILE));
  makeFolder(folder);
  writeOutput(path, source);
  if (!flags.has("quiet")) process.stdout.write(`${printable(path)}\n${NEXT}`);
  return 0;
}

const NEXT = `
compile:  gcc -Wall -shared -fPIC -o libflowsteer-record.so ${FILE} -ldl
record:   FLOWSTEER_RECORD=calls.jsonl LD_PRELOAD=./libflowsteer-record.so ./program
import:   flowsteer import calls.jsonl
`;
