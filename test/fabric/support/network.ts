/** A leaf-spine fabric of 111 devices under traffic: hosts that answer frames, connections that lose packets. */
import { createHash } from "node:crypto";
import { createDevice, createSink } from "../../../src/index.js";
import { createFabric, leafSpine, type Fabric, type FabricNode } from "../../../src/fabric/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import * as v from "../../../src/verbs/index.js";
import { join, openEnd, pattern, post, postReceives, type End } from "../../verbs/support/connected.js";
import { text } from "../../snapshot/support/same.js";
import { completions, hashOf, type Host } from "./plans.js";

const [SPINES, LEAVES, PER_LEAF] = [3, 12, 8];
const HOSTS = LEAVES * PER_LEAF;
const EDGE = { delay: 500n, rate: 100e9, queue: 64 };

export interface Network {
  readonly [field: string]: unknown;
  readonly hosts: readonly Host[];
  readonly ends: readonly [End, End][];
}

const macOf = (host: number): string => `02:00:00:00:00:${host.toString(16).padStart(2, "0")}`;

/** Where a switch sends the frames of a host. */
function portFor(role: string, index: number, host: number): number {
  const leaf = Math.floor(host / PER_LEAF);
  if (role === "spine") return leaf + 1;
  return leaf === index ? (host % PER_LEAF) + 1 : PER_LEAF + 1 + (host % SPINES);
}

function rulesOf({ name, role = "", index = 0, ports = 1 }: FabricNode): Scenario {
  return {
    flowsteer: 1,
    device: { name, ports },
    tables: [
      { name: "root", domain: "fdb", level: 0 },
      { name: "hosts", domain: "fdb", level: 1 },
    ],
    rules: [
      { name: "all", table: "root", actions: [{ table: "hosts" }] },
      ...Array.from({ length: HOSTS }, (_, host) => ({
        name: `h${host}`,
        table: "hosts",
        match: { "outer.dmac": macOf(host) },
        actions: [{ port: portFor(role, index, host) }],
      })),
    ],
  };
}

export async function openNetwork(): Promise<Network & { readonly fabric: Fabric }> {
  const hosts: Host[] = [];
  const fabric = await createFabric({
    ...leafSpine({
      spines: SPINES,
      leaves: LEAVES,
      hostsPerLeaf: PER_LEAF,
      edge: EDGE,
      uplink: { ...EDGE, loss: 0.02, duplicate: 0.02, reorder: 0.1 },
    }),
    seed: 7,
    make: async (node) => {
      if (node.role !== "host") return (await loadScenario(rulesOf(node))).device;
      const device = await createDevice({ name: node.name, macs: [macOf(node.index ?? 0)] });
      const context = v.ibv_open_device(device);
      v.ibv_create_flow(createSink(context, "in"), { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
      hosts.push({ device, senders: [createSink(context, "out")] });
      return device;
    },
  });
  const ends = [0, 9, 18].map((host): [End, End] => {
    const pair = [host, HOSTS - 1 - host].map((n) => openEnd(hosts[n]!.device)) as [End, End];
    join(...pair, { timeout: 4 });
    postReceives(pair[1], 4);
    post(pair[0], pattern(8_000, host));
    return pair;
  });
  for (const [n, host] of hosts.entries()) send(host, n, 30, n * 7919);
  return { fabric, hosts, ends };
}

/** The byte of a frame that has its lives. */
const LIVES = 60;

function send({ device, senders }: Host, from: number, lives: number, salt: number): void {
  const to = (from + 1 + (salt % (HOSTS - 1))) % HOSTS;
  const payload = new Uint8Array(64 + (salt % 200)).fill(salt & 0xff);
  payload[LIVES - 42] = lives;
  const addresses = { source: macOf(from), destination: macOf(to) };
  device.send(
    senders[0]!,
    buildFrame([{ header: "ethernet", ...addresses }, { header: "ipv4" }, { header: "udp" }, payload]),
  );
}

/** Lets hosts answer until the lives of frames are over. */
export function answer({ hosts }: Network, log: string[]): void {
  for (const [n, host] of hosts.entries()) {
    host.device.on("delivery", ({ destination: { frame, name } }) => {
      const hash = hashOf(frame);
      log.push(`${host.device.now()} ${host.device.name} ${name} ${hash}`);
      const lives = frame[LIVES] ?? 0;
      if (name === "qp:in" && lives > 0 && lives <= 30) send(host, n, lives - 1, hash % 100_003);
    });
  }
}

/** Everything that happened and was counted, in one hash. */
export function digestOf(fabric: Fabric, { ends }: Network, log: readonly string[]): string {
  return createHash("sha256")
    .update([...log, completions(ends), text(fabric.metrics()), text(fabric.cables())].join("\n"))
    .digest("hex");
}
