/** Snapshots of fabrics under traffic: a copy, also in another process, goes on bit by bit as the fabric does. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { numbers } from "../../bench/random.js";
import { createFabric, restoreFabric, type Fabric } from "../../src/fabric/index.js";
import { unpack } from "../../src/snapshot/container.js";
import { text } from "../snapshot/support/same.js";
import { rounds, setting } from "../support/tier.js";
import { answer, digestOf, openNetwork } from "./support/network.js";
import { answerAll, completions, connectEnds, drawPlan, happen, openHosts, type Host } from "./support/plans.js";
import type { End } from "../verbs/support/connected.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);
const ROUNDS = rounds(90, "FLOWSTEER_FABRICS");

/** A fabric with what a program has of it. */
interface World {
  readonly fabric: Fabric;
  readonly kept: { hosts: readonly Host[]; ends: readonly [End, End][] };
  readonly log: string[];
}

const inTransit = (fabric: Fabric): number =>
  fabric.cables().reduce((sum, { forth, back }) => sum + forth.underWay + back.underWay, 0);

test(`a copy goes on as the fabric does (FLOWSTEER_SEED=${SEED}, ${ROUNDS} fabrics)`, { timeout: 1e7 }, async () => {
  let moving = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = numbers(SEED + round);
    const plan = drawPlan(random);
    const hosts = await openHosts(plan);
    const first = await createFabric({ devices: hosts.map(({ device }) => device), links: plan.links });
    const ends = connectEnds(plan, hosts);
    const one: World = { fabric: first, kept: { hosts, ends }, log: [] };
    answerAll(hosts, one.log);
    const cut = random() % plan.events.length;
    for (const event of plan.events.slice(0, cut)) {
      first.advanceTo(event.at);
      happen(event, hosts, ends);
    }
    moving += inTransit(first);
    one.log.length = 0;
    const two: World = { ...(await restoreFabric<World["kept"]>(first.snapshot({ keep: one.kept }))), log: [] };
    expect(two.fabric.now()).toBe(first.now());
    answerAll(two.kept.hosts, two.log);
    for (const { kept, fabric, log } of [one, two]) {
      for (const event of plan.events.slice(cut)) {
        fabric.advanceTo(event.at);
        happen(event, kept.hosts, kept.ends);
      }
      fabric.run();
      log.push(completions(kept.ends));
    }
    expect(two.log, `seed ${SEED + round}`).toEqual(one.log);
    expect(text([two.fabric.metrics(), two.fabric.cables()])).toBe(text([first.metrics(), first.cables()]));
    const [was, is] = [one, two].map(({ fabric, kept }) => unpack(fabric.snapshot({ keep: kept })));
    for (const part of ["device", "objects", "values", "tables", "buffers"] as const)
      expect(Buffer.compare(was![part], is![part]), `seed ${SEED + round}: ${part}`).toBe(0);
  }
  expect(moving).toBeGreaterThan(0);
});

test("111 devices go on in another process, with the frames in transit", { timeout: 1e7 }, async () => {
  const network = await openNetwork();
  const { fabric, hosts, ends } = network;
  expect(fabric.devices).toHaveLength(111);
  const log: string[] = [];
  answer(network, log);
  fabric.advanceTo(10_000n);
  expect(inTransit(fabric)).toBeGreaterThan(20);
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-fabric-"));
  try {
    const file = join(folder, "fabric.snapshot");
    writeFileSync(file, fabric.snapshot({ keep: { hosts, ends } }));
    log.length = 0;
    fabric.run();
    const script = fileURLToPath(new URL("support/goOn.ts", import.meta.url));
    const printed = execFileSync(process.execPath, ["--import", "tsx", script, file], { encoding: "utf8" });
    expect(printed.trim()).toBe(`${log.length} ${digestOf(fabric, network, log)}`);
    expect(log.length).toBeGreaterThan(1000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
