/**
 * Every shipped example, with the capture that goes with it, by every way that frames take through a device: one by one, all
 * in a call, by bursts of several sizes, on one core and on two, with the cache and without; rules are destroyed under the traffic and rules of the host come and go. Outcomes,
 * counters and reasons are the same in all of them (docs/frames.md).
 */
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { parseScenario, type FrameInput } from "../../src/scenario/index.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/load.js";
import {
  createDevice,
  createDevicePool,
  type Destination,
  type Device,
  type DeviceOptions,
  type Outcome,
} from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { readCapture } from "../../src/packet/capture/read.js";
import * as v from "../../src/verbs/index.js";
import { Random } from "../oracle/generate/random.js";

const FOLDER = new URL("../../examples/", import.meta.url);
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const CAPTURES: Readonly<Record<string, string>> = {
  "everyday.json": "everyday.pcap",
  "flows-strongswan.json": "strongswan.pcap",
};

type Take = (device: Device, frames: readonly FrameInput[]) => Outcome[];

interface Way {
  name: string;
  open: (options: DeviceOptions) => Promise<Device>;
  take: Take;
}

const oneByOne: Take = (device, frames) =>
  frames.map((frame) => device.receive(frame.port ?? 1, frame.bytes, optionsOf(frame)));

const inCalls: Take = (device, frames) => {
  const outcomes: Outcome[] = [];
  for (let first = 0, end = 0; first < frames.length; first = end) {
    const { port = 1 } = frames[first] as FrameInput;
    while (end < frames.length && (frames[end]?.port ?? 1) === port) end++;
    const some = frames.slice(first, end);
    const bytes = some.map((frame) => frame.bytes);
    outcomes.push(...device.receiveBatch(port, bytes, some.map(optionsOf)));
  }
  return outcomes;
};

/** By bursts of so many frames, copied or laid down. */
const byBursts =
  (rows: number, laid: boolean): Take =>
  (device, frames) => {
    const burst = device.openBurst();
    const outcomes: Outcome[] = [];
    for (let first = 0; first < frames.length; first += rows) {
      burst.clear();
      let end = 0;
      for (const { bytes, port = 1, linkType = 1, wireLength = bytes.length, time } of frames.slice(
        first,
        first + rows,
      )) {
        if (laid) burst.bytes.set(bytes, end);
        const row = laid
          ? burst.add(end, bytes.length, port, linkType, wireLength)
          : burst.put(bytes, port, linkType, wireLength);
        if (typeof time === "bigint") burst.stamp(row, time);
        end += bytes.length;
      }
      const count = burst.steer();
      for (let row = 0; row < count; row++) outcomes.push(burst.outcome(row));
    }
    return outcomes;
  };

const uncached = (options: DeviceOptions): Promise<Device> => createDevice({ ...options, cache: false });
const cached = (options: DeviceOptions): Promise<Device> => createDevice(options);
/** Entries take each other's places. */
const crowded = (options: DeviceOptions): Promise<Device> => createDevice({ ...options, cache: { entries: 4 } });
const pool = (options: DeviceOptions): Promise<Device> => createDevicePool({ ...options, workers: 2, few: 2 });

const REFERENCE: Way = { name: "one by one, no cache", open: uncached, take: oneByOne };
const WAYS: readonly Way[] = [
  { name: "one by one", open: cached, take: oneByOne },
  { name: "in one call", open: cached, take: inCalls },
  { name: "in one call, no cache", open: uncached, take: inCalls },
  { name: "bursts of 1, crowded cache", open: crowded, take: byBursts(1, false) },
  { name: "bursts of 7, laid down", open: cached, take: byBursts(7, true) },
  { name: "bursts of 256, no cache", open: uncached, take: byBursts(256, false) },
  { name: "two cores, in one call", open: pool, take: inCalls },
  { name: "two cores, bursts of 256, laid down", open: pool, take: byBursts(256, true) },
];

function optionsOf({ bytes, linkType = 1, wireLength = bytes.length, time }: FrameInput) {
  return { linkType, wireLength, ...(time === undefined ? {} : { time }) };
}

/** An outcome without the objects of its device. */
function plain({ verdict, reason, tag, registers, rules, to, copies }: Outcome): unknown {
  const arrived = ({ name, frame, tag: own, linkType, espFault }: Destination): unknown[] => [
    ...[name, hexOf(frame)],
    ...[own, linkType, espFault],
  ];
  const hit = rules.map((rule) => `${rule.constructor.name} ${rule.name}`);
  return { verdict, reason, tag, registers, hit, to: to.map(arrived), copies: copies.map(arrived) };
}

/** Everything that a scenario counts. */
function sums({ device, counters, flowCounters }: LoadedScenario): unknown {
  return [
    device.reasons(),
    [...counters].map(([name, one]) => [name, one.read()]),
    [...flowCounters].map(([name, one]) => [name, one.values()]),
  ];
}

/** Frames of the document, then the capture, twice: what is known by now, and what has changed, come by again. */
async function framesOf(name: string, { frames, device }: LoadedScenario): Promise<FrameInput[]> {
  const own = frames.filter(
    ({ send, before = [], sync = false }) => send === undefined && before.length === 0 && !sync,
  );
  const captured: FrameInput[] = [];
  const capture = CAPTURES[name];
  if (capture !== undefined) {
    for await (const some of readCapture(new Uint8Array(readFileSync(new URL(capture, FOLDER)))))
      for (const { bytes, linkType, wireLength, time } of some)
        captured.push({ bytes, linkType, wireLength, time, port: 1 + (captured.length % device.ports) });
  }
  const last = [...own, ...captured].reduce((most, { time }) => ((time ?? 0n) > most ? (time ?? 0n) : most), 0n);
  const again = [...own, ...captured].map((frame) => ({ ...frame, time: (frame.time ?? 0n) + last }));
  return [...own, ...captured, ...again];
}

/** Between frames a rule goes, of those that the document has; the host's rules come and go. The same in all ways. */
class Churn {
  readonly #random = new Random(1);
  readonly #loaded: LoadedScenario;
  readonly #rules: (() => void)[];
  #host: (() => void) | null = null;

  constructor(loaded: LoadedScenario) {
    this.#loaded = loaded;
    const rules = [...loaded.rules.values()].map((rule) => () => dv.mlx5dv_dr_rule_destroy(rule));
    const flows = [...loaded.flows.values()].map((flow) => () => v.ibv_destroy_flow(flow));
    this.#rules = this.#random.shuffle<() => unknown>([...rules, ...flows]);
  }

  step(): void {
    if (this.#random.chance(0.5)) this.#rules.pop()?.();
    if (this.#host !== null) {
      this.#host();
      this.#host = null;
    } else {
      const { hostRules } = this.#loaded.device;
      const rule = hostRules.add({ application: "ethtool", priority: 0, match: {}, action: "drop", name: "churn" });
      this.#host = () => rule.remove();
    }
  }
}

/** Frames between two changes of the rules. */
const STEADY = 9;

/** What became of the frames, before and under the churn, and what was counted; and what the cache knew. */
async function story(name: string, { open, take }: Way): Promise<{ told: unknown[]; hits: bigint }> {
  const scenario = parseScenario(readFileSync(new URL(name, FOLDER), "utf8"));
  const loaded = await loadScenario(scenario, {}, open);
  const frames = await framesOf(name, loaded);
  const half = frames.length / 2;
  const halves = [frames.slice(0, half), frames.slice(half)];
  const told = halves.flatMap((some) => take(loaded.device, some).map(plain));
  const steady = sums(loaded);
  const churn = new Churn(loaded);
  for (let first = 0; first < frames.length; first += STEADY) {
    churn.step();
    told.push(...take(loaded.device, frames.slice(first, first + STEADY)).map(plain));
  }
  const churned = sums(loaded);
  const { hits } = loaded.device.cache;
  loaded.device.users = 0;
  loaded.device.close();
  expect(told.length).toBe(2 * frames.length);
  return { told: [...told, steady, churned], hits };
}

describe.each(EXAMPLES)("%s", (name) => {
  let wanted: unknown[];
  beforeAll(async () => {
    wanted = (await story(name, REFERENCE)).told;
  });

  test.each(WAYS)("$name", async (way) => {
    const { told, hits } = await story(name, way);
    for (const [i, one] of wanted.entries()) expect(told[i], `frame ${i + 1}`).toEqual(one);
    expect(told.length).toBe(wanted.length);
    if (way.open === uncached) expect(hits).toBe(0n);
    else if (name === "everyday.json" && way.open === cached) expect(hits).toBeGreaterThan(0n);
  });
});
