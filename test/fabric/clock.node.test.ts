/**
 * A fabric touches due devices only, and everything is as with a loop that advances all devices at each event: the same
 * deliveries at the same times in the same order, the same completions and memory, the same counts of each device.
 */
import { expect, test } from "vitest";
import { numbers } from "../../bench/random.js";
import { createFabric, type Link } from "../../src/fabric/index.js";
import type { Device } from "../../src/index.js";
import { text } from "../snapshot/support/same.js";
import { checkReached, rounds, setting } from "../support/tier.js";
import { answerAll, completions, connectEnds, drawPlan, happen, openHosts, type Plan } from "./support/plans.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);
const ROUNDS = rounds(150, "FLOWSTEER_FABRICS");
/** After the last event; connections give up long before. */
const END = 10_000_000n;

/** What happened in a world. */
interface Told {
  readonly log: readonly string[];
  readonly devices: readonly Device[];
}

function connectNaively(devices: readonly Device[], links: readonly Link[]): void {
  for (const { from, to, ...options } of links) {
    const [a = 0, p = 0, b = 0, q = 0] = [from, to].flatMap((end) => end.slice(1).split(":").map(Number));
    devices[a]!.connect(p, devices[b]!, q, options);
  }
}

/** The loop that a program without fabrics has. */
async function naive(plan: Plan, own: boolean): Promise<Told> {
  let time = 0n;
  const hosts = await openHosts(plan, own ? () => time : undefined);
  const devices = hosts.map(({ device }) => device);
  connectNaively(devices, plan.links);
  const log: string[] = [];
  answerAll(hosts, log);
  const ends = connectEnds(plan, hosts);
  const advanceTo = (until: bigint): void => {
    for (;;) {
      const times = devices.map((device) => device.nextDeadline()).filter((at) => at !== null);
      const next = times.reduce((a, b) => (a < b ? a : b), until);
      time = next;
      const isOver = next === until && !times.some((at) => at <= until);
      for (const device of devices) device.advanceTo(next);
      if (isOver) return;
    }
  };
  for (const event of plan.events) {
    advanceTo(event.at);
    happen(event, hosts, ends);
  }
  advanceTo(END);
  return { log: [...log, completions(ends)], devices };
}

async function withFabric(plan: Plan): Promise<Told> {
  const hosts = await openHosts(plan);
  const fabric = await createFabric({ devices: hosts.map(({ device }) => device), links: plan.links });
  const log: string[] = [];
  answerAll(hosts, log);
  const ends = connectEnds(plan, hosts);
  for (const event of plan.events) {
    fabric.advanceTo(event.at);
    happen(event, hosts, ends);
  }
  for (let next = fabric.nextDeadline(); next !== null && next <= END; next = fabric.nextDeadline()) {
    const naiveNext = fabric.devices.map((device) => device.nextDeadline()).filter((at) => at !== null);
    expect(next).toBe(naiveNext.reduce((a, b) => (a < b ? a : b)));
    fabric.step();
  }
  fabric.advanceTo(END);
  return { log: [...log, completions(ends)], devices: fabric.devices };
}

/** What a device has counted; its memory depends on secret multipliers. */
function counts(device: Device): string {
  return text({ ...device.metrics(), memory: null });
}

test(`as a loop over all devices (FLOWSTEER_SEED=${SEED}, ${ROUNDS} fabrics)`, { timeout: 1e7 }, async () => {
  let [deliveries, retried] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const plan = drawPlan(numbers(SEED + round));
    const [loop, fabric] = [await naive(plan, round % 2 === 1), await withFabric(plan)];
    expect(fabric.log, `seed ${SEED + round}`).toEqual(loop.log);
    expect(fabric.devices.map(counts), `seed ${SEED + round}`).toEqual(loop.devices.map(counts));
    deliveries += loop.log.length;
    if (/:12(?!\d)/.test(loop.log.at(-1) as string)) retried++;
  }
  expect(deliveries).toBeGreaterThan(10 * ROUNDS);
  checkReached(() => expect(retried).toBeGreaterThan(0));
});
