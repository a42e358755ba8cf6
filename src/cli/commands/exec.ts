/** flowsteer exec: runs an unmodified program on devices of the model. */
import { stat } from "node:fs/promises";
import { cHeader, cSource } from "../../calls/index.js";
import { loadScenario, type LoadedScenario } from "../../scenario/index.js";
import type { DeviceOptions } from "../../index.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { runOnDevices, type ExecPlan } from "../exec/execRun.js";
import { openLibrary, type Library } from "../exec/library.js";
import { environmentOf, runProgram, type Program } from "../exec/program.js";
import { inputName, openFiles, textOf } from "../input/chunks.js";
import { sameFile } from "../output/output.js";
import { badUsage, withFile } from "../refusal.js";

const OPTIONS = {
  device: "value",
  profile: "value",
  devices: "value",
  socket: "value",
  join: "value",
  record: "value",
  capture: "value",
  port: "value",
  rate: "value",
  "virtual-time": "flag",
  annotate: "value",
  why: "flag",
  json: "flag",
} as const;

const MAX_DEVICES = 16;
const MAX_RATE = 10_000_000;
const USAGE = "flowsteer exec -- PROGRAM [ARGUMENTS]";

/** The device without a scenario. */
const PLAIN = { flowsteer: 1, device: { ports: 2 } };

/** @returns the exit status of the program */
export async function exec(args: readonly string[]): Promise<number> {
  const end = args.indexOf("--");
  const line = readCommandLine(end < 0 ? args : args.slice(0, end), "exec", OPTIONS);
  const [operand] = line.operands;
  if (operand !== undefined) throw badUsage(operand, `put -- before the program: ${USAGE}`);
  const [command, ...rest] = end < 0 ? [] : args.slice(end + 1);
  if (command === undefined) throw badUsage("exec", `name a program: ${USAGE}`);
  const program = { command, args: rest };
  const socket = line.values.get("join");
  if (socket !== undefined) return join(line, socket, program);
  const plan = await planOf(line);
  return runOnDevices(plan, program, await libraryOf(line));
}

/** The program uses the devices of another `flowsteer exec`, which reports of it. */
async function join({ values, flags, ...line }: CommandLine, socket: string, program: Program): Promise<number> {
  const other = [...values.keys(), ...flags].find((name) => name in OPTIONS && name !== "join");
  if (other !== undefined)
    throw badUsage(`--${other}`, "cannot be used with --join: it is an option of the command that has the devices");
  // A library that finds no socket leaves its program without devices.
  const isSocket = await withFile(socket, async () => (await stat(socket)).isSocket());
  if (!isSocket) throw badUsage(`--join ${socket}`, "expected the socket of a running flowsteer exec --socket PATH");
  return runProgram(program, environmentOf(await libraryOf({ values, flags, ...line }), socket));
}

function libraryOf({ flags }: CommandLine): Promise<Library> {
  const onCompile = (): void => {
    if (!flags.has("quiet")) process.stderr.write("flowsteer: compiling the library for programs, once\n");
  };
  const generated = [
    { name: "generated.h", text: cHeader() },
    { name: "generated.c", text: cSource() },
  ];
  return openLibrary({ generated, onCompile });
}

async function planOf(line: CommandLine): Promise<ExecPlan> {
  const { values, flags } = line;
  const count = numberOption(line, "devices", 1, MAX_DEVICES) ?? 1;
  const [device, capture, annotate, record] = ["device", "capture", "annotate", "record"].map((name) =>
    values.get(name),
  );
  checkFiles(line, count);
  const devices = await loadedDevices(device, values.get("profile"), count);
  const ports = (devices[0] as LoadedScenario).device.ports;
  const port = numberOption(line, "port", 1, ports, "the ports of the device") ?? 1;
  const rate = numberOption(line, "rate", 1, MAX_RATE, "frames per second") ?? null;
  return {
    devices,
    socket: values.get("socket") ?? null,
    record: record ?? null,
    capture: capture === undefined ? null : { files: await openFiles([capture]), port, rate },
    isVirtual: flags.has("virtual-time"),
    annotate: annotate ?? null,
    why: flags.has("why"),
    json: flags.has("json"),
    quiet: flags.has("quiet"),
  };
}

function checkFiles({ values }: CommandLine, devices: number): void {
  const capture = values.get("capture");
  for (const name of ["port", "rate"])
    if (values.has(name) && capture === undefined) throw badUsage(`--${name}`, "needs --capture");
  for (const name of ["device", "capture"])
    if (values.get(name) === "-") throw badUsage(`--${name} -`, "the program reads standard input; name a file");
  const annotate = values.get("annotate");
  if (annotate === "-") throw badUsage("--annotate -", "the program writes to standard output; name a file");
  if (annotate !== undefined && capture !== undefined && sameFile(annotate, capture))
    throw badUsage(`--annotate ${annotate}`, "--capture reads this file; name another");
  if (values.get("record") === "-" && devices > 1)
    throw badUsage("--record -", "each device is written to a file of its own; name a file");
}

/** Devices of the scenario, cabled in pairs where there are several. */
async function loadedDevices(
  file: string | undefined,
  profile: string | undefined,
  count: number,
): Promise<readonly LoadedScenario[]> {
  const text = file === undefined ? PLAIN : await textOf(file);
  const name = file === undefined ? `--profile ${profile ?? ""}` : inputName(file);
  const devices: LoadedScenario[] = [];
  for (let n = 0; n < count; n++) {
    const options = {
      countHits: true,
      ...(profile === undefined ? {} : { profile }),
      ...(count === 1 ? {} : { name: `flowsteer${n}` }),
    } as DeviceOptions;
    devices.push(await withFile(name, () => loadScenario(text, options)));
  }
  for (let n = 0; n + 1 < count; n += 2) cable(devices[n] as LoadedScenario, devices[n + 1] as LoadedScenario);
  return devices;
}

/** Connects the ports of two devices that the scenario has not cabled: each to that of the same number. */
function cable({ device: one, scenario }: LoadedScenario, { device: other }: LoadedScenario): void {
  const cabled = new Set((scenario.connect ?? []).flatMap(({ port, to }) => [port, to]));
  for (let port = 1; port <= one.ports; port++) if (!cabled.has(port)) one.connect(port, other, port);
}
