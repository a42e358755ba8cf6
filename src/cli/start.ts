/** The entry of the command. --version and --help print without loading the engine. */
import { HELP } from "./help.js";
import { version } from "./version.js";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") process.stdout.write(`flowsteer ${version()}\n`);
else if (first === "--help" || first === "-h") process.stdout.write(HELP[""] ?? "");
else await import("./main.js");
