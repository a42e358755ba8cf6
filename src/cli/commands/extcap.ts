/** flowsteer extcap: the devices of flowsteer as interfaces of Wireshark (its extcap protocol). */
import { readCommandLine, type CommandLine } from "../commandLine.js";
import { fieldsText, INTERFACES, interfacesText, linkTypesText, type InterfaceName } from "../extcap/answers.js";
import { install } from "../extcap/install.js";
import { captureSteered } from "../extcap/steeredCapture.js";
import { badUsage } from "../refusal.js";
import { printable } from "../text.js";
import { version } from "../version.js";
import { run } from "./run.js";

const OPTIONS = {
  install: "value",
  "extcap-interfaces": "flag",
  "extcap-version": "value",
  "extcap-interface": "value",
  "extcap-dlts": "flag",
  "extcap-config": "flag",
  "extcap-capture-filter": "value",
  capture: "flag",
  fifo: "value",
  control: "value",
  scenario: "value",
  frames: "value",
  port: "value",
} as const;

/** @returns the exit code */
export async function extcap(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "extcap", OPTIONS);
  const { flags, values, operands } = line;
  if (operands[0] !== undefined) throw badUsage(operands[0], "flowsteer extcap takes only options");
  const folder = values.get("install");
  if (folder !== undefined)
    return print(`${printable(install(folder))}: Wireshark lists its interfaces after a restart\n`);
  if (flags.has("extcap-interfaces")) return print(interfacesText(version()));
  const asked = values.get("extcap-interface");
  if (asked === undefined)
    throw badUsage("extcap", "Wireshark calls this command; install it with flowsteer extcap --install FOLDER");
  const name = interfaceOf(asked);
  if (flags.has("extcap-dlts")) return print(linkTypesText());
  if (flags.has("extcap-config")) return print(fieldsText(name));
  const filter = values.get("extcap-capture-filter");
  if (filter !== undefined) {
    const text = "flowsteer has no capture filters: use a display filter";
    if (!flags.has("capture")) return print(`${text}\n`);
    throw badUsage(`--extcap-capture-filter ${filter}`, text);
  }
  if (!flags.has("capture"))
    throw badUsage(`--extcap-interface ${asked}`, "needs --capture, --extcap-dlts or --extcap-config");
  return capture(name, line);
}

async function capture(name: InterfaceName, line: CommandLine): Promise<number> {
  const pipe = needed(line, "fifo", "the pipe that Wireshark reads");
  if (name === "flowsteer-serve") {
    await captureSteered(needed(line, "control", "the Unix socket of flowsteer serve --control unix:PATH"), pipe);
    return 0;
  }
  const scenario = needed(line, "scenario", "the file of the rules");
  const [frames, port] = [line.values.get("frames"), line.values.get("port")];
  const inputs = frames === undefined ? [scenario] : [scenario, frames];
  const options = frames === undefined || port === undefined ? [] : ["--port", port];
  return run(["--quiet", ...options, "--annotate", pipe, "--", ...inputs]);
}

function needed({ values }: CommandLine, name: string, what: string): string {
  const value = values.get(name);
  if (value === undefined) throw badUsage(`--${name}`, `missing value: ${what}`);
  return value;
}

function interfaceOf(text: string): InterfaceName {
  const name = INTERFACES.find((one) => one === text);
  if (name === undefined) throw badUsage(`--extcap-interface ${text}`, `expected one of ${INTERFACES.join(", ")}`);
  return name;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
