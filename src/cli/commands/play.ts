/** flowsteer play: serves the playground, with files opened in it. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parseJson } from "../../base/json.js";
import { SteeringError } from "../../errors.js";
import { checkScenario } from "../../scenario/index.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { CaptureLog, readColumns } from "../input/captures.js";
import { openFiles, textOf } from "../input/chunks.js";
import { importOptions } from "../input/rules/options.js";
import { Interruption } from "../interruption.js";
import { Output } from "../output/output.js";
import { badUsage, CommandRefusal } from "../refusal.js";
import { archivedPage } from "../serve/pageArchive.js";
import { servePage, type PageServer, type ServedFile } from "../serve/pageServer.js";
import { counted, printable } from "../text.js";

/** Work in the page is kept by address: the same port finds it again. It is that of RoCE v2. */
const PORT = 4791;
const MAX_PORT = 65535;

/** dist/playground, from dist/ or from src/cli/commands/. */
const PAGE = fileURLToPath(new URL(import.meta.bundled ? "playground/" : "../../../dist/playground/", import.meta.url));
/** The same in one file, in the package. */
const ARCHIVE = `${PAGE.slice(0, -1)}.br`;

/** What the text of another program is read with; the page has a form for it. */
const READING = { map: "joined", driver: "value", profile: "value" } as const;
const OPTIONS = { ...READING, port: "value", open: "flag" } as const;

/** @returns the exit code */
export async function play(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "play", OPTIONS);
  const port = numberOption(line, "port", 0, MAX_PORT);
  const [rules, capture, more] = line.operands;
  if (more !== undefined) throw badUsage(more, "name one file of rules and one capture: flowsteer play RULES CAPTURE");
  const isSource = rules !== undefined && (await isOfOtherProgram(rules));
  const reading = await readingOf(line, isSource ? rules : undefined);
  const notes = [...(isSource ? [] : await checkRules(rules)), ...(await checkCapture(capture))];
  const page = pageFiles();
  const interruption = new Interruption();
  const server = await serve(new Map([...page, ...filesOf(rules, capture, reading)]), port);
  try {
    const address = `${server.url}${rules === undefined ? "" : "?opened"}`;
    await tell(line, address, notes);
    if (line.flags.has("open")) openBrowser(address);
    await new Promise<void>((resolve) => (interruption.stop = resolve));
    return 0;
  } finally {
    interruption.end();
    await server.close();
  }
}

/** Whether a file has rules of another program, which the page shows as they are. */
async function isOfOtherProgram(path: string): Promise<boolean> {
  checkIsFile(path);
  const text = await textOf(path);
  if (isScenario(text)) return false;
  const { recognizes } = await import("../../import/index.js");
  return recognizes(text);
}

/** How the rules of another program are read, as the page chooses it; null for a scenario. */
interface Reading {
  readonly map: Readonly<Record<string, string>>;
  readonly driver: string | null;
  readonly profile: string | null;
}

/** @param path the rules of another program; undefined for a scenario */
async function readingOf(line: CommandLine, path: string | undefined): Promise<Reading | null> {
  const [given] = Object.keys(READING).filter((name) => line.values.has(name));
  if (path === undefined) {
    if (given !== undefined) throw badUsage(`--${given}`, "it is for rules of other programs: flowsteer play RULES");
    return null;
  }
  const options = importOptions(line);
  if (given !== undefined) {
    const { importScenario } = await import("../../import/index.js");
    // Unknown names are refused here. What else is wrong with the text is for the page to show.
    try {
      await importScenario([{ file: path, text: await textOf(path) }], { ...options, lenient: true });
    } catch (error) {
      throw error instanceof SteeringError ? new CommandRefusal(path, error) : error;
    }
  }
  const { map = {}, driver = null, profile = null } = options;
  return { map, driver, profile };
}

/** Refuses what is no scenario. Mistakes in one are for the page to show. @returns notes */
async function checkRules(path: string | undefined): Promise<string[]> {
  if (path === undefined) return [];
  checkIsFile(path);
  const text = await textOf(path);
  const { refusals } = await checkScenario(text);
  const [first] = refusals;
  if (first === undefined) return [];
  if (!isScenario(text)) throw new CommandRefusal(path, first);
  return [`${path} has ${counted(refusals.length, "error")}: the page shows where`];
}

/** Whether a text says that it is a scenario. */
function isScenario(text: string): boolean {
  try {
    const document: unknown = parseJson(text);
    return typeof document === "object" && document !== null && Object.hasOwn(document, "flowsteer");
  } catch {
    return false;
  }
}

/** Refuses what is no capture. @returns notes */
async function checkCapture(path: string | undefined): Promise<string[]> {
  if (path === undefined) return [];
  checkIsFile(path);
  const log = new CaptureLog();
  for await (const _ of readColumns({ files: await openFiles([path]), limit: 1, quiet: true }, log)) break;
  return log.notes;
}

function checkIsFile(path: string): void {
  if (path === "-") throw badUsage("-", "the page reads its files again at each reload; name a file");
}

/** The files of the page, where it is an archive. */
function pageFiles(): ReadonlyMap<string, ServedFile> {
  if (existsSync(`${PAGE}index.html`)) return new Map();
  try {
    return archivedPage(ARCHIVE);
  } catch {
    const hint = "the page is not built: npm run build in a checkout of flowsteer; else install the package again";
    throw new CommandRefusal(PAGE, { code: "EIO", call: "play", reason: "cannot_read", hint });
  }
}

/** The files beside the page, by their paths in URLs. */
function filesOf(
  rules: string | undefined,
  capture: string | undefined,
  reading: Reading | null,
): ReadonlyMap<string, ServedFile> {
  if (rules === undefined) return new Map();
  const index = { rules: basename(rules), capture: capture === undefined ? null : basename(capture), reading };
  return new Map<string, ServedFile>([
    ["opened/index.json", Buffer.from(JSON.stringify(index))],
    ["opened/rules.json", rules],
    ...(capture === undefined ? [] : [["opened/capture", capture] as const]),
  ]);
}

/** Without a port of the caller, any free one where the usual one is taken. */
async function serve(files: ReadonlyMap<string, ServedFile>, port: number | undefined): Promise<PageServer> {
  try {
    return await servePage(PAGE, files, port ?? PORT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" && port === undefined) return servePage(PAGE, files, 0);
    if (code === "EADDRINUSE") throw badUsage(`--port ${port}`, "the port is in use; omit --port to use any free port");
    if (code === "EACCES") throw badUsage(`--port ${port}`, "permission denied; use a port of 1024 or more");
    throw error;
  }
}

async function tell({ flags, operands }: CommandLine, address: string, notes: readonly string[]): Promise<void> {
  const [rules] = operands;
  const lines = flags.has("quiet")
    ? [address]
    : [
        `The playground is at ${address}`,
        ...notes.map((note) => `note: ${note}`),
        ...(rules === undefined
          ? []
          : [`A reload of the page reads ${rules} again. The page does not write to it: download what you edit.`]),
        "Ctrl-C ends it.",
      ];
  const output = new Output();
  await output.write(lines.map((one) => `${printable(one)}\n`).join(""));
  await output.flush();
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens an address in the browser of the person; a machine without one is no error. */
function openBrowser(address: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.once("error", () => process.stderr.write(`note: ${command} cannot be started; open the address yourself\n`));
  child.unref();
}
