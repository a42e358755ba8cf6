/** Makes the command a program of Wireshark's extcap folder. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage } from "../refusal.js";

const NAME = "flowsteer";
/** A line of the program, by which a later installation knows it. */
const MARK = "# Made by flowsteer extcap --install";
const EXECUTABLE = 0o755;

/** Writes the program, a shell script. @returns its path */
export function install(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw badUsage(
      `--install ${folder}`,
      "the folder does not exist; Wireshark lists its extcap folders under Help, About Wireshark, Folders; " +
        "so does tshark -G folders",
    );
  const path = join(folder, NAME);
  if (!isOurs(path))
    throw badUsage(`--install ${folder}`, `${path} is another program; move it, or choose another folder`);
  const [node, script] = [process.execPath, realpathSync(process.argv[1] ?? "")].map(quoted);
  writeOutput(path, `#!/bin/sh\n${MARK}\nexec ${node} ${script} extcap "$@"\n`, EXECUTABLE);
  return path;
}

function isOurs(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && readFileSync(path, "latin1").includes(MARK));
}

/** A word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
