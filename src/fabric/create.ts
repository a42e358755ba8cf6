/** Makes fabrics of topologies and tables of links. */
import { checkOptions, unsigned, wrongType, type OptionTypes } from "../base/checks.js";
import { inAsyncCall, mistyped, refusalOf, refuse, SteeringError } from "../errors.js";
import { createDevice, type Device } from "../model/device/device.js";
import { checkDevice, Fabric } from "./fabric.js";
import { checkedList, checkNamed, nodesOf, refuseDuplicate, type FabricNode, type Link } from "./links.js";

/** A device, or nothing where the fabric makes it. */
type Made = Device | null | undefined;

export interface FabricOptions<N extends FabricNode = FabricNode> {
  /** Devices to make, in the order in which they run at one time. @default those that `links` names */
  nodes?: readonly N[];
  /** The cables. */
  links?: readonly Link[];
  /** Devices that exist already, before `nodes`. They take the places of nodes of their names. */
  devices?: readonly Device[];
  /**
   * Makes the device of a node: from a scenario, for example. Without it, and where it returns nothing,
   * `createDevice` makes it with the options of the node.
   */
  make?: (node: N) => Made | Promise<Made>;
  /** Seed of the cables, and of devices that the fabric makes, where they have none of their own. @default 0 */
  seed?: number;
}

const OPTION_TYPES: OptionTypes<FabricOptions> = {
  nodes: "any",
  links: "any",
  devices: "any",
  make: "function",
  seed: "number",
};

/**
 * Makes devices and cables from a topology, or from a table of links of your own.
 * @throws SteeringError EINVAL: an unknown option, two devices of one name, a device with a clock of its
 *   own; EBUSY: a port with two cables; TypeError. The path names the row: `links[3].to`
 * @example
 *     const fabric = await createFabric({ links: [{ from: "a", to: "b", delay: 2_000n, rate: 100e9 }] });
 *     fabric.device("a").send(queue, frame);
 *     fabric.run();
 */
export async function createFabric<N extends FabricNode>(options: FabricOptions<N> = {}): Promise<Fabric> {
  return inAsyncCall("createFabric", async () => {
    checkOptions("", options, OPTION_TYPES);
    const devices = checkedList("devices", options.devices);
    const links = checkedList("links", options.links);
    const seed = options.seed ?? 0;
    if (!Number.isSafeInteger(seed))
      refuse({ code: "EINVAL", reason: "out_of_range", path: "seed", value: seed, hint: "an integer" });
    devices.forEach((device, i) => checkDevice(`devices[${i}]`, device));
    const given = namesOf("devices", devices);
    const isOpen = options.nodes === undefined && options.devices === undefined;
    const nodes = isOpen ? nodesOf(links) : checkedList("nodes", options.nodes);
    const listed = namesOf("nodes", nodes);
    if (!isOpen) checkNamed(links, new Set([...given, ...listed]));
    const made = [...devices];
    for (const [i, node] of nodes.entries()) {
      if (given.has(node.name)) continue;
      const own = await options.make?.(node as N);
      if (own !== undefined && own !== null) checkDevice(`make(${node.name})`, own);
      made.push(own ?? (await deviceOf(`nodes[${i}]`, node, seed + i)));
    }
    // The latest of their times: no clock goes back.
    const time = made.reduce((latest, device) => (device.now() > latest ? device.now() : latest), 0n);
    const fabric = new Fabric(time, seed);
    const connected: Link[] = [];
    try {
      for (const device of made) fabric.add(device);
      for (const [i, link] of links.entries()) {
        fabric.connectAt(`links[${i}]`, link);
        connected.push(link);
      }
    } catch (error) {
      for (const { from } of connected) fabric.disconnect(from);
      fabric.close();
      throw error;
    }
    return fabric;
  });
}

/** @throws SteeringError EINVAL two have one name; TypeError one has none */
function namesOf(path: string, list: readonly { readonly name: string }[]): Set<string> {
  const names = new Set<string>();
  for (const [i, { name }] of list.entries()) {
    if (typeof name !== "string") wrongType(`${path}[${i}].name`, "a string", name);
    if (names.has(name)) refuseDuplicate(`${path}[${i}].name`, name);
    names.add(name);
  }
  return names;
}

async function deviceOf(path: string, node: FabricNode, seed: number): Promise<Device> {
  const { role, index, ...options } = node;
  if (index !== undefined) unsigned(`${path}.index`, index, 32);
  if (role !== undefined && typeof role !== "string") mistyped(`${path}.role must be a string`);
  try {
    return await createDevice({ seed, ...options });
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    const refusal = refusalOf(error);
    return refuse({ ...refusal, call: "", path: refusal.path === undefined ? path : `${path}.${refusal.path}` });
  }
}
