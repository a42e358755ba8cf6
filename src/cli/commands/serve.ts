/** flowsteer serve: a device as a process that real machines plug into. */
import { loadScenario, type LoadedScenario } from "../../scenario/index.js";
import { Control } from "../control/control.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { inputName } from "../input/chunks.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { readRules } from "../input/rules/rules.js";
import { Interruption } from "../interruption.js";
import { badUsage, CommandRefusal, EXIT, withFile } from "../refusal.js";
import { connectPorts, placesOf, type Place } from "../serve/places.js";
import { ScenarioFile, type Reloaded } from "../serve/reload.js";
import { LiveView } from "../serve/live.js";
import { readingOf } from "../serve/rates.js";
import { checkSnapshotPlace, restoreFile, writeSnapshot } from "../serve/snapshotFile.js";
import { sumOf, sumText } from "../serve/summary.js";
import { Switchboard } from "../serve/switchboard.js";
import { painter, printable } from "../text.js";
import { wireOf } from "../wire/wires.js";

const OPTIONS = {
  ...RULE_OPTIONS,
  wire: "list",
  control: "value",
  token: "value",
  "most-bytes": "value",
  "most-requests": "value",
  "virtual-time": "flag",
  "beyond-loopback": "flag",
  snapshot: "value",
  restore: "value",
  live: "flag",
  json: "flag",
} as const;

/** The limits of control connections where the caller says none: bytes of a message, messages a second. */
const MESSAGE = 1 << 20;
const RATE = 10_000;

/** The longest time of a timer, in milliseconds. */
const MAX_WAIT = 2 ** 31 - 1;

/** Milliseconds that the end waits for slow peers, all in all. */
const PATIENCE = 2000;

/** @returns the exit code: 0 also where a signal ended it, 1 where the snapshot could not be written */
export async function serve(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "serve", OPTIONS);
  const wires = (line.lists.get("wire") ?? []).map((text) => wireOf(text, line.flags.has("beyond-loopback")));
  const snapshotFile = line.values.get("snapshot");
  if (snapshotFile !== undefined) checkSnapshotPlace(snapshotFile);
  if (line.flags.has("live") && line.flags.has("quiet") && !line.flags.has("json"))
    throw badUsage(null, "--live and --quiet cannot be used together");
  let live: LiveView | null = null;
  const teller: Teller = { line, write: (text) => (live === null ? process.stderr.write(text) : live.write(text)) };
  const { name, loaded, watched } = await loadedOf(line, teller);
  const places = placesOf(loaded, wires);
  connectPorts(loaded, places);
  loaded.prepare({ bytes: new Uint8Array() });
  const board = new Switchboard(loaded, places, line.flags.has("virtual-time"));
  const control = controlOf(line, board);
  const interruption = new Interruption();
  const nothingToReload = (): void => {
    if (line.flags.has("json") || line.flags.has("quiet")) return;
    teller.write("note: SIGHUP: the rules were read once; only those of a scenario file are reloaded\n");
  };
  let until = Infinity;
  try {
    await openAll(places, line);
    board.begin();
    const place = line.values.get("control");
    const listens = place === undefined ? null : await control.open(place, tokenOf(line));
    // Before it says that it is ready: without a handler a hang-up would end the process.
    if (watched === null) process.on("SIGHUP", nothingToReload);
    else watched.watch();
    tell(teller, readyText(name, places, listens), {
      kind: "ready",
      control: listens,
      wires: places.map(({ name, wire }) => ({ place: name, wire: wire.describe() })),
    });
    if (line.flags.has("live")) live = new LiveView(() => readingOf(board), process.stderr, line.flags.has("json"));
    live?.begin();
    await ended(interruption, [control, ...places.map(({ wire }) => wire)]);
    until = Date.now() + PATIENCE;
    await watched?.end();
    await drain(board, until);
  } finally {
    process.off("SIGHUP", nothingToReload);
    live?.end();
    interruption.end();
    board.end();
    const open = [control, ...places.map(({ wire }) => wire)];
    const isClosed = await patiently(
      Promise.all(open.map((one) => one.close())),
      Math.min(until, Date.now() + PATIENCE),
    );
    if (!isClosed) for (const one of open) one.abandon();
  }
  const snapshot = snapshotFile === undefined ? null : writeSnapshot(loaded, snapshotFile);
  const sum = sumOf(board, interruption.signal, snapshot);
  tell(teller, sumText(painter(process.stderr), sum), sum);
  // Standard input may be open.
  process.stdin.destroy();
  return snapshot !== null && "error" in snapshot ? EXIT.failed : 0;
}

/** The token of the command line, or of the environment; null without one. @throws CommandRefusal it is empty */
function tokenOf({ values }: CommandLine): string | null {
  const token = values.get("token") ?? process.env["FLOWSTEER_TOKEN"] ?? null;
  if (token === "") throw badUsage("FLOWSTEER_TOKEN", "the variable is empty: unset it, or give it a token");
  return token;
}

interface Served {
  readonly name: string;
  readonly loaded: LoadedScenario;
  /** Null for a snapshot, for standard input and for rules of other programs: they are read once. */
  readonly watched: ScenarioFile | null;
}

/** The scenario that is served, from its file or from a snapshot. */
async function loadedOf(line: CommandLine, teller: Teller): Promise<Served> {
  const { operands, values } = line;
  const [file, more] = operands;
  const snapshot = values.get("restore");
  if (more !== undefined) throw badUsage(more, "name one file of rules");
  if (file !== undefined && snapshot !== undefined)
    throw badUsage(`--restore ${snapshot}`, "the snapshot contains its scenario; omit the scenario file");
  if (snapshot !== undefined) return { name: snapshot, loaded: await restoreFile(snapshot), watched: null };
  if (file === undefined)
    throw badUsage("serve", "name rules: flowsteer serve RULES --wire uplink=udp:127.0.0.1:10001:127.0.0.1:10002");
  const { name, document, text, device, imported } = await readRules(file, line);
  const loaded = await withFile(name, () => loadScenario(document, { ...device, countHits: true }));
  // A change is found in a scenario, element by element.
  if (imported !== null) return { name, loaded, watched: null };
  const told = (what: Reloaded): void => tell(teller, reloadText(inputName(file), what), what);
  return { name: inputName(file), loaded, watched: file === "-" ? null : new ScenarioFile(file, text, loaded, told) };
}

function reloadText(file: string, what: Reloaded): string {
  if (what.kind === "reload-refused") return `${printable(file)} changed and is refused: ${printable(what.message)}\n`;
  const { created, destroyed, kept } = what;
  const list = (names: readonly string[]): string => names.map((one) => JSON.stringify(one)).join(", ");
  const parts = [
    created.length === 0 ? "" : `created ${list(created)}`,
    destroyed.length === 0 ? "" : `destroyed ${list(destroyed)}`,
    `kept ${kept}`,
  ];
  return `${printable(file)} changed: ${printable(parts.filter((part) => part !== "").join("; "))}\n`;
}

function controlOf(line: CommandLine, board: Switchboard): Control {
  const message = numberOption(line, "most-bytes", 1, Number.MAX_SAFE_INTEGER, "bytes of a message") ?? MESSAGE;
  const rate = numberOption(line, "most-requests", 1, Number.MAX_SAFE_INTEGER, "messages a second") ?? RATE;
  return new Control(board, { message, rate });
}

async function openAll(places: readonly Place[], line: CommandLine): Promise<void> {
  for (const [i, { wire }] of places.entries()) {
    try {
      await wire.open();
    } catch (error) {
      if (error instanceof CommandRefusal) throw error;
      throw badUsage(`--wire ${line.lists.get("wire")?.[i] ?? ""}`, openHint(error as NodeJS.ErrnoException));
    }
  }
}

const OPEN_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EADDRNOTAVAIL: "this machine does not have the address",
  EACCES: "this user may not listen there",
  ENOENT: "no such folder",
};

function openHint({ code = "", message }: NodeJS.ErrnoException): string {
  return OPEN_HINTS[code] ?? message;
}

/** Waits for a signal, or for the end of standard input. Without wires, nothing else keeps the process alive. */
async function ended(interruption: Interruption, ends: readonly { onEnd: (() => void) | null }[]): Promise<void> {
  const alive = setInterval(() => undefined, MAX_WAIT);
  await new Promise<void>((resolve) => {
    interruption.stop = resolve;
    for (const one of ends) one.onEnd = resolve;
  });
  clearInterval(alive);
}

/** Steers what has come, until a turn brings nothing more, and lets it leave. */
async function drain(board: Switchboard, until: number): Promise<void> {
  await turn();
  const arrived = (): number => board.places.reduce((sum, { wire }) => sum + wire.counts.framesIn, 0);
  for (let before = -1; (board.busy || arrived() !== before) && Date.now() < until;) {
    before = arrived();
    await turn();
  }
  for (const { wire } of board.places) wire.begin(() => undefined);
  await patiently(Promise.all(board.places.map(({ wire }) => wire.flush())), until);
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Waits until a time, in milliseconds. @returns whether the work was done */
async function patiently(work: Promise<unknown>, until: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), until - Date.now())));
  const isDone = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}

interface Teller {
  readonly line: CommandLine;
  /** Standard output may be a wire: people are told on standard error. */
  readonly write: (text: string) => unknown;
}

function tell({ line: { flags }, write }: Teller, text: string, record: object): void {
  if (flags.has("json")) write(`${JSON.stringify(record)}\n`);
  else if (!flags.has("quiet")) write(text);
}

function readyText(name: string, places: readonly Place[], control: string | null): string {
  const lines = [`serving ${name}`];
  for (const { name, port, wire } of places) {
    lines.push(`${name}: ${wire.describe()}`);
    const plug = port === 1 ? "uplink" : port === null ? name.slice("qp:".length) : `port${port}`;
    for (const { what, command } of wire.plugs(plug)) lines.push(`  ${what}: ${command}`);
  }
  if (control !== null) lines.push(`control: ${control}`);
  lines.push("ready; Ctrl-C ends it");
  return lines.map((one) => `${printable(one)}\n`).join("");
}
