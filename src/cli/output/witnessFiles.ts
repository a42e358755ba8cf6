/** Writes the witnesses of a cover: as captures, and as scenarios that expect what becomes of them. */
import { join } from "node:path";
import type { Cover } from "../../explain/index.js";
import { LINK_TYPES, PcapngWriter } from "../../index.js";
import {
  farOutcomes,
  outcomeNames,
  parseScenario,
  rulePointers,
  type ExpectedFrame,
  type ExpectedOutcome,
  type Scenario,
  type ScenarioFrame,
} from "../../scenario/index.js";
import type { Rules } from "../input/rules/rules.js";
import { printable } from "../text.js";
import { makeFolder } from "./folder.js";
import { FileOutput } from "./output.js";
import { namedWitnesses, runsOf, type NamedWitness, type WitnessStep } from "./witnessRun.js";

/** Files, and how many frames each has. */
interface Written {
  readonly written: readonly { readonly path: string; readonly frames: number }[];
  readonly notes: readonly string[];
}

/**
 * Writes `cover.json` and `cover.pcapng`; where state keeps witnesses from one run, also `cover-2.json` and so on.
 * @param files the paths of the rules, which are not overwritten
 */
export async function writeWitnesses(
  folder: string,
  files: readonly string[],
  { document, device }: Pick<Rules, "document" | "device">,
  found: Cover,
): Promise<Written> {
  const given = parseScenario(document);
  const scenario = Object.keys(device).length === 0 ? given : { ...given, device: { ...given.device, ...device } };
  const witnesses = namedWitnesses(found);
  const plain = withoutFrames(
    scenario,
    witnesses.reduce((sum, { witness }) => sum + 1 + witness.before.length, 0),
  );
  const { runs, lost } = await runsOf(plain, witnesses);
  makeFolder(folder);
  const pointers = rulePointers(scenario);
  const written: { path: string; frames: number }[] = [];
  const write = async (name: string, frames: number, contents: Iterable<string | Uint8Array>): Promise<void> => {
    const path = join(folder, name);
    const output = await FileOutput.open(path, files, "--out");
    for (const piece of contents) {
      if (typeof piece === "string") await output.write(piece);
      else await output.writeBytes(piece);
    }
    await output.end();
    written.push({ path, frames });
  };
  for (const [i, steps] of (runs.length === 0 ? [[]] : runs).entries()) {
    const name = i === 0 ? "cover" : `cover-${i + 1}`;
    await write(`${name}.json`, steps.length, scenarioText(plain, steps));
    await write(`${name}.pcapng`, steps.length, captureBytes(steps, pointers));
  }
  const notes = lost.map((one) => `the witness of "${one.name}" is left out: alone on a new device it does not hit`);
  return { written, notes };
}

/** Of a queue, by the schema. */
const MAX_BUFFERS = 32768;
const LEFT_OUT: ReadonlySet<string> = new Set(["$schema", "description", "frames", "messages", "expect"]);

/**
 * The scenario without its frames and expectations. Receive buffers of its queues are enough for so many frames, so that no
 * witness takes those of another one.
 */
function withoutFrames(scenario: Scenario, frames: number): Scenario {
  const rest = Object.fromEntries(Object.entries(scenario).filter(([key]) => !LEFT_OUT.has(key))) as Scenario;
  const { title, queues } = rest;
  const enough = (buffers: number): number => Math.min(MAX_BUFFERS, Math.max(buffers, frames));
  return {
    ...rest,
    ...(title === undefined ? {} : { title: `Witnesses: ${title}` }),
    ...(queues === undefined
      ? {}
      : {
          queues: queues.map((queue) =>
            queue.buffers === undefined ? queue : { ...queue, buffers: enough(queue.buffers) },
          ),
        }),
  };
}

/** The scenario with its frames, an element of a list a line. */
function* scenarioText(plain: Scenario, steps: readonly WitnessStep[]): Generator<string, void> {
  const document = {
    ...plain,
    frames: steps.map(frameOf),
    expect: { frames: steps.flatMap((step) => (step.isWitness ? [expectedOf(step)] : [])) },
  };
  const keys = Object.entries(document);
  yield "{\n";
  for (const [i, [key, value]] of keys.entries()) {
    yield `  ${JSON.stringify(key)}: `;
    if (key === "expect") {
      yield '{\n    "frames": ';
      yield* listText(document.expect.frames, "    ");
      yield "\n  }";
    } else if (Array.isArray(value)) yield* listText(value, "  ");
    else yield JSON.stringify(value);
    yield i === keys.length - 1 ? "\n" : ",\n";
  }
  yield "}\n";
}

function* listText(list: readonly unknown[], indent: string): Generator<string, void> {
  yield "[";
  for (const [i, one] of list.entries()) yield `${i === 0 ? "" : ","}\n${indent}  ${JSON.stringify(one)}`;
  yield list.length === 0 ? "]" : `\n${indent}]`;
}

function frameOf({ of, isWitness, frame }: WitnessStep): ScenarioFrame {
  const { bytes, send, metadata, port, time } = frame;
  return {
    ...(isWitness ? { name: of.name } : {}),
    hex: Buffer.from(bytes).toString("hex"),
    ...(send === undefined ? {} : { send }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(port === undefined ? {} : { port }),
    time: Number(time),
  };
}

function expectedOf({ of, outcome }: WitnessStep): ExpectedFrame {
  const far = farOutcomes(outcome).map(([port, there]) => [port, endOf(outcomeNames(there))] as const);
  return {
    frame: of.name,
    ...endOf(outcomeNames(outcome)),
    ...(far.length === 0 ? {} : { beyond: Object.fromEntries(far) }),
  };
}

function endOf({ verdict, reason, to, tag, rules, copies }: ReturnType<typeof outcomeNames>): ExpectedOutcome {
  return { verdict, reason, to, tag, rules, ...(copies.length === 0 ? {} : { copies }) };
}

/** The same frames with comments; an interface for each port and queue. */
function* captureBytes(
  steps: readonly WitnessStep[],
  pointers: ReadonlyMap<string, string>,
): Generator<Uint8Array, void> {
  const sources = [...new Set(steps.map(sourceOf))];
  const interfaces = sources.map((name) => ({ linkType: LINK_TYPES.ETHERNET, nanoseconds: true, name }));
  const writer = new PcapngWriter({ interfaces });
  yield writer.header();
  for (const step of steps) {
    const { time, bytes } = step.frame;
    const interfaceId = sources.indexOf(sourceOf(step));
    yield writer.frame({ time, bytes, interfaceId, comments: [printable(commentOf(step, pointers))] });
  }
}

function sourceOf({ frame: { send, port = 1 } }: WitnessStep): string {
  return send === undefined ? `port ${port}` : `queue ${send}`;
}

function commentOf({ of, isWitness, outcome }: WitnessStep, pointers: ReadonlyMap<string, string>): string {
  const what = `${isWitness ? "" : "comes before "}the witness of ${aboutOf(of, pointers)}`;
  const { verdict, to } = outcomeNames(outcome);
  return `flowsteer: ${what}; ${verdict}${to.length === 0 ? "" : ` to ${to.join(", ")}`}`;
}

function aboutOf({ rule, table }: NamedWitness, pointers: ReadonlyMap<string, string>): string {
  if (rule === null) return `table ${table.table}`;
  const place = pointers.get(rule.name);
  return `${rule.kind} "${rule.name}"${place === undefined ? "" : ` (${place})`}`;
}
