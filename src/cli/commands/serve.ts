/** flowsteer serve: a device as a process that real machines plug into. */
import { loadScenario } from "../../scenario/index.js";
import { Control } from "../control/control.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { inputName, textOf } from "../input/chunks.js";
import { Interruption } from "../interruption.js";
import { badUsage, CommandRefusal, withFile } from "../refusal.js";
import { connectPorts, placesOf, type Place } from "../serve/places.js";
import { sumOf, sumText } from "../serve/summary.js";
import { Switchboard } from "../serve/switchboard.js";
import { painter, printable } from "../text.js";
import { wireOf } from "../wire/wires.js";

const OPTIONS = {
  wire: "list",
  control: "value",
  "most-bytes": "value",
  "most-requests": "value",
  "beyond-loopback": "flag",
  json: "flag",
} as const;

/** The limits of control connections where the caller says none: bytes of a message, messages a second. */
const MESSAGE = 1 << 20;
const RATE = 10_000;

/** Milliseconds that the end waits for slow peers. */
const PATIENCE = 2000;

/** @returns the exit code: 0 also where a signal ended it */
export async function serve(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "serve", OPTIONS);
  const [file, more] = line.operands;
  if (file === undefined)
    throw badUsage(
      "serve",
      "name a scenario: flowsteer serve SCENARIO --wire uplink=udp:127.0.0.1:10001:127.0.0.1:10002",
    );
  if (more !== undefined) throw badUsage(more, "name one scenario");
  const wires = (line.lists.get("wire") ?? []).map((text) => wireOf(text, line.flags.has("beyond-loopback")));
  const text = await textOf(file);
  const loaded = await withFile(inputName(file), () => loadScenario(text, { countHits: true }));
  const places = placesOf(loaded, wires);
  connectPorts(loaded, places);
  loaded.prepare({ bytes: new Uint8Array() });
  const board = new Switchboard(loaded, places);
  const control = controlOf(line, board);
  const interruption = new Interruption();
  try {
    await openAll(places, line);
    board.begin();
    const place = line.values.get("control");
    if (place !== undefined) await control.open(place);
    tell(line, readyText(file, places), {
      kind: "ready",
      wires: places.map(({ name, wire }) => ({ place: name, wire: wire.describe() })),
    });
    await new Promise<void>((resolve) => {
      interruption.stop = resolve;
    });
    await drain(board);
  } finally {
    interruption.end();
    board.end();
    await patiently(Promise.all([control.close(), ...places.map(({ wire }) => wire.close())]));
  }
  const sum = sumOf(board, interruption.signal);
  tell(line, sumText(painter(process.stderr), sum), sum);
  // Standard input may be open.
  process.stdin.destroy();
  return 0;
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

/** Steers what has come, until a turn brings nothing more, and lets it leave. */
async function drain(board: Switchboard): Promise<void> {
  await turn();
  const arrived = (): number => board.places.reduce((sum, { wire }) => sum + wire.counts.framesIn, 0);
  const until = Date.now() + PATIENCE;
  for (let before = -1; (board.busy || arrived() !== before) && Date.now() < until;) {
    before = arrived();
    await turn();
  }
  for (const { wire } of board.places) wire.begin(() => undefined);
  await patiently(Promise.all(board.places.map(({ wire }) => wire.flush())));
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Waits, but not forever. */
async function patiently(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE)))]);
  clearTimeout(timer);
}

/** Standard output may be a wire: people are told on standard error. */
function tell({ flags }: CommandLine, text: string, record: object): void {
  if (flags.has("json")) process.stderr.write(`${JSON.stringify(record)}\n`);
  else if (!flags.has("quiet")) process.stderr.write(text);
}

function readyText(file: string, places: readonly Place[]): string {
  const lines = [`serving ${inputName(file)}`];
  for (const { name, port, wire } of places) {
    lines.push(`${name}: ${wire.describe()}`);
    const plug = port === 1 ? "uplink" : port === null ? name.slice("qp:".length) : `port${port}`;
    for (const { what, command } of wire.plugs(plug)) lines.push(`  ${what}: ${command}`);
  }
  lines.push("ready; Ctrl-C ends it");
  return lines.map((one) => `${printable(one)}\n`).join("");
}
