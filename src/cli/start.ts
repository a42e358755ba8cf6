/** What the shell starts: scripts that only ask for the version or for help do not wait for the engine. */
import { HELP } from "./help.js";
import { version } from "./version.js";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") process.stdout.write(`flowsteer ${version()}\n`);
else if (first === "--help" || first === "-h") process.stdout.write(HELP[""] ?? "");
else await import("./main.js");
