/** The entry of the command. --version and --help print without loading the engine. */
import { HELP } from "./help.js";
import { version } from "./version.js";

/** As `EXIT` in refusal.ts, which loads the engine. */
const CANNOT_WRITE = 3;
const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") print(`flowsteer ${version()}\n`);
else if (first === "--help" || first === "-h") print(HELP[""] ?? "");
else await import("./main.js");

function print(text: string): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`flowsteer: standard output: the file cannot be written: ${error.message}\n`);
    process.exit(CANNOT_WRITE);
  });
  process.stdout.write(text);
}
