/** Frames across a fabric of 1,000 hosts: by `createFabric`, and by a loop that advances all devices at each event. */
import { createFabric, leafSpine, type FabricNode } from "../src/fabric/index.js";
import { createDevice, createSink, type Device } from "../src/index.js";
import { buildFrame } from "../src/packet/index.js";
import { loadScenario, type Scenario } from "../src/scenario/index.js";
import { IBV_FLOW_ATTR_ALL_DEFAULT, ibv_create_flow, ibv_open_device } from "../src/verbs/index.js";
import { cpuSeconds, expectEqual, type Suite, type TimedCase } from "./harness.js";

const PER_LEAF = 25;
const SPINES = 4;
const CABLE = { delay: 500n, rate: 100e9 };
/** Nanoseconds between two hosts that send: frames are under way at different times. */
const APART = 37n;

/** Devices on cables, whose clocks are moved together. */
interface Network {
  readonly hosts: readonly Host[];
  now(): bigint;
  advanceTo(time: bigint): void;
  /** Runs until nothing waits. */
  run(): void;
}

interface Host {
  readonly device: Device;
  readonly queue: ReturnType<typeof createSink>;
  readonly frame: Uint8Array;
  delivered: number;
}

export const fabric: Suite = {
  name: "fabric",
  title: "Fabrics: each host sends a frame through a leaf-spine network, beside a loop over all devices",
  async *workloads(quick) {
    for (const leaves of quick ? [2] : [4, 40]) {
      const [ours, loop] = [await byFabric(leaves), await byLoop(leaves)];
      const count = leaves * PER_LEAF;
      yield {
        name: `${count.toLocaleString("en")} hosts`,
        unit: "frame",
        units: count,
        rounds: 5,
        check: () => {
          const [was, is] = [loop, ours].map((network) => {
            round(network);
            return { now: network.now(), delivered: network.hosts.map(({ delivered }) => delivered) };
          });
          expectEqual("the end", String(is?.now), String(was?.now));
          for (const each of [is, was])
            if (each?.delivered.some((one) => one !== 1)) throw new Error("a host has not received its frame");
        },
        cases: [timed("a loop over all devices", loop, true), timed("createFabric", ours, false)],
      };
    }
  },
};

function timed(name: string, network: Network, peer: boolean): TimedCase {
  const seconds = (): number => {
    const began = cpuSeconds();
    round(network);
    return cpuSeconds() - began;
  };
  return { name, peer, seconds };
}

/** Each host sends a frame, one after the other. */
function round(network: Network): void {
  for (const { device, queue, frame } of network.hosts) {
    network.advanceTo(network.now() + APART);
    device.send(queue, frame);
  }
  network.run();
}

async function byFabric(leaves: number): Promise<Network> {
  const hosts: Host[] = [];
  const made = await createFabric({ ...topology(leaves), make: (node) => deviceOf(node, leaves, hosts) });
  return { hosts, now: () => made.now(), advanceTo: (time) => made.advanceTo(time), run: () => made.run() };
}

async function byLoop(leaves: number): Promise<Network> {
  const hosts: Host[] = [];
  const devices = new Map<string, Device>();
  const { nodes, links } = topology(leaves);
  for (const node of nodes) devices.set(node.name, await deviceOf(node, leaves, hosts));
  for (const { from, to, ...options } of links) {
    const [a, p] = from.split(":") as [string, string];
    const [b, q] = to.split(":") as [string, string];
    devices.get(a)!.connect(Number(p), devices.get(b)!, Number(q), options);
  }
  const all = [...devices.values()];
  const earliest = (): bigint | null => {
    let first: bigint | null = null;
    for (const device of all) {
      const at = device.nextDeadline();
      if (at !== null && (first === null || at < first)) first = at;
    }
    return first;
  };
  const advance = (time: bigint): void => {
    for (const device of all) device.advanceTo(time);
  };
  return {
    hosts,
    now: () => all[0]!.now(),
    advanceTo(time) {
      for (let at = earliest(); at !== null && at <= time; at = earliest()) advance(at);
      advance(time);
    },
    run() {
      for (let at = earliest(); at !== null; at = earliest()) advance(at);
    },
  };
}

const topology = (leaves: number): ReturnType<typeof leafSpine> =>
  leafSpine({ spines: SPINES, leaves, hostsPerLeaf: PER_LEAF, edge: CABLE });

const hex = (n: number): string => n.toString(16).padStart(2, "0");
const macOf = (host: number): string => `02:00:00:${hex(Math.floor(host / PER_LEAF))}:00:${hex(host % PER_LEAF)}`;

async function deviceOf(node: FabricNode, leaves: number, hosts: Host[]): Promise<Device> {
  const { name, role, index = 0 } = node;
  if (role !== "host") return (await loadScenario(rulesOf(node, leaves))).device;
  const device = await createDevice({ name, macs: [macOf(index)] });
  const queue = createSink(ibv_open_device(device), "app");
  ibv_create_flow(queue, { type: IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  // To a host of another leaf.
  const to = (index + PER_LEAF * (1 + ((index % PER_LEAF) % (leaves - 1)))) % (leaves * PER_LEAF);
  const frame = buildFrame([
    { header: "ethernet", source: macOf(index), destination: macOf(to) },
    { header: "ipv4" },
    { header: "udp" },
  ]);
  const host: Host = { device, queue, frame, delivered: 0 };
  device.on("delivery", () => host.delivered++);
  hosts.push(host);
  return device;
}

/** Hosts of a leaf by their addresses, other leaves by the part of the address that they share. */
function rulesOf({ name, role, index = 0, ports = 1 }: FabricNode, leaves: number): Scenario {
  const own = Array.from({ length: role === "leaf" ? PER_LEAF : 0 }, (_, n) => ({
    name: `h${n}`,
    table: "hosts",
    priority: 0,
    match: { "outer.dmac": macOf(index * PER_LEAF + n) },
    actions: [{ port: n + 1 }],
  }));
  const far = Array.from({ length: leaves }, (_, leaf) => ({
    name: `leaf${leaf}`,
    table: "hosts",
    priority: 1,
    match: { "outer.dmac": `02:00:00:${hex(leaf)}:00:00/ff:ff:ff:ff:00:00` },
    actions: [{ port: role === "spine" ? leaf + 1 : PER_LEAF + 1 + (leaf % SPINES) }],
  }));
  return {
    flowsteer: 1,
    device: { name, ports },
    tables: ["root", "hosts"].map((table, level) => ({ name: table, domain: "fdb" as const, level })),
    rules: [{ name: "all", table: "root", actions: [{ table: "hosts" }] }, ...own, ...far],
  };
}
