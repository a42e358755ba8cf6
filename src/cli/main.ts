/** The command flowsteer: selects the subcommand and sets the exit code. */
import { nearest } from "../index.js";
import { check } from "./commands/check.js";
import { fields } from "./commands/fields.js";
import { HELP } from "./help.js";
import { endOnUnwritableOutput } from "./output/output.js";
import { parse } from "./commands/parse.js";
import { badUsage, CommandRefusal, EXIT, exitCodeOfRefusal, refusalLines } from "./refusal.js";
import { run } from "./commands/run.js";
import { painter } from "./text.js";
import { version } from "./version.js";

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  run,
  // Commands that explain load the code for it.
  trace: async (args) => (await import("./commands/trace.js")).trace(args),
  why: async (args) => (await import("./commands/why.js")).why(args),
  cover: async (args) => (await import("./commands/cover.js")).cover(args),
  diff: async (args) => (await import("./commands/diff.js")).diff(args),
  import: async (args) => (await import("./commands/import.js")).importCommand(args),
  export: async (args) => (await import("./commands/export.js")).exportCommand(args),
  record: async (args) => (await import("./commands/record.js")).record(args),
  exec: async (args) => (await import("./commands/exec.js")).exec(args),
  parse,
  check,
  fields,
  play: async (args) => (await import("./commands/play.js")).play(args),
  serve: async (args) => (await import("./commands/serve.js")).serve(args),
  extcap: async (args) => (await import("./commands/extcap.js")).extcap(args),
  farm: async (args) => (await import("./commands/farm.js")).farm(args),
};

endOnUnwritableOutput();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof CommandRefusal) {
    process.stderr.write(refusalLines(painter(process.stderr), error));
    process.exitCode = exitCodeOfRefusal(error);
  } else {
    process.stderr.write(`flowsteer: internal error, please report it\n${(error as Error).stack ?? String(error)}\n`);
    process.exitCode = EXIT.defect;
  }
}

async function main([command, ...args]: readonly string[]): Promise<number> {
  if (command === undefined) {
    process.stderr.write(HELP[""] ?? "");
    return EXIT.refused;
  }
  if (command === "--version" || command === "-V") return print(`flowsteer ${version()}\n`);
  if (command === "--help" || command === "-h") return print(HELP[""] ?? "");
  if (command === "help") return print(helpOf(args[0] ?? ""));
  if (!Object.hasOwn(COMMANDS, command)) throw unknownCommand(command);
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  if (options.includes("--help") || options.includes("-h")) return print(HELP[command] ?? "");
  return (COMMANDS[command] as (args: readonly string[]) => Promise<number>)(args);
}

function helpOf(command: string): string {
  if (!Object.hasOwn(HELP, command)) throw unknownCommand(command);
  return HELP[command] as string;
}

function unknownCommand(command: string): CommandRefusal {
  const near = nearest(command, [...Object.keys(COMMANDS), "help"]);
  const known = `commands: ${Object.keys(COMMANDS).join(", ")}, help`;
  if (command.startsWith("-")) return badUsage(null, `${command} must follow a command; ${known}`);
  return badUsage(null, `unknown command ${command}; ${near === undefined ? known : `did you mean ${near}?`}`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
