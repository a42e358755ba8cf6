/** Topologies as tables of links, for `createFabric`. */
import { checkOptions, isObject, unsigned, wrongType, type OptionTypes } from "../base/checks.js";
import { inCall, refuse } from "../errors.js";
import { MAX_PORTS } from "../model/base/port/ports.js";
import type { FabricNode, Link } from "./links.js";

/** Devices and the cables between them, as plain data. */
export interface Topology {
  readonly nodes: FabricNode[];
  readonly links: Link[];
}

/** Cables of a topology: their options, or a function that gives those of each, with its capture. */
export type Cabling = Omit<Link, "from" | "to"> | ((from: string, to: string) => Omit<Link, "from" | "to">);

export interface LeafSpineOptions {
  spines: number;
  leaves: number;
  hostsPerLeaf: number;
  /** Cables between hosts and leaves. @default cables that take no time */
  edge?: Cabling;
  /** Cables between leaves and spines. @default as `edge` */
  uplink?: Cabling;
}

export interface FatTreeOptions {
  /** Ports of each switch: an even number. There are k pods, and k³/4 hosts. */
  k: number;
  /** Cables between hosts and edge switches. @default cables that take no time */
  edge?: Cabling;
  /** Cables between switches. @default as `edge` */
  uplink?: Cabling;
}

const CABLING = { edge: "any", uplink: "any" } as const;
const LEAF_SPINE: OptionTypes<LeafSpineOptions> = {
  spines: "number",
  leaves: "number",
  hostsPerLeaf: "number",
  ...CABLING,
};
const FAT_TREE: OptionTypes<FatTreeOptions> = { k: "number", ...CABLING };

/**
 * Each leaf has a cable to each spine. Hosts, leaves and spines are `h0`, `leaf0`, `spine0` and so on.
 * Port `n + 1` of a leaf leads to its host `n`, and port `hostsPerLeaf + 1 + s` to spine `s`; port
 * `l + 1` of a spine leads to leaf `l`.
 * @throws SteeringError EINVAL: an unknown option, a number out of range; TypeError
 * @example
 *     const fabric = await createFabric(leafSpine({ spines: 2, leaves: 4, hostsPerLeaf: 16 }));
 */
export function leafSpine(options: LeafSpineOptions): Topology {
  return inCall("leafSpine", () => {
    checkOptions("", options, LEAF_SPINE);
    const spines = count("spines", options.spines);
    const leaves = count("leaves", options.leaves);
    const hostsPerLeaf = count("hostsPerLeaf", options.hostsPerLeaf);
    const { edge, uplink } = cablings(options);
    const links: Link[] = [];
    for (let leaf = 0; leaf < leaves; leaf++) {
      for (let n = 0; n < hostsPerLeaf; n++) links.push(edge(`h${leaf * hostsPerLeaf + n}:1`, `leaf${leaf}:${n + 1}`));
      for (let spine = 0; spine < spines; spine++)
        links.push(uplink(`leaf${leaf}:${hostsPerLeaf + 1 + spine}`, `spine${spine}:${leaf + 1}`));
    }
    const nodes = [
      ...nodesOf("h", "host", leaves * hostsPerLeaf, 1),
      ...nodesOf("leaf", "leaf", leaves, hostsPerLeaf + spines),
      ...nodesOf("spine", "spine", spines, leaves),
    ];
    return { nodes, links };
  });
}

/**
 * The fat tree of k pods (Al-Fares, Loukissas, Vahdat: A Scalable, Commodity Data Center Network
 * Architecture, SIGCOMM 2008). Edge switch `e` has hosts at its ports 1 to k/2 and the aggregation
 * switches of its pod at the others; port `k/2 + 1 + c` of the aggregation switch `a` of a pod leads to
 * core switch `a * k/2 + c`, whose port `p + 1` leads to pod `p`.
 * @throws SteeringError EINVAL: an unknown option, an odd k; TypeError
 * @example
 *     const fabric = await createFabric(fatTree({ k: 4 })); // 16 hosts, 20 switches
 */
export function fatTree(options: FatTreeOptions): Topology {
  return inCall("fatTree", () => {
    checkOptions("", options, FAT_TREE);
    const k = count("k", options.k);
    if (k % 2 !== 0) refuse({ code: "EINVAL", reason: "out_of_range", path: "k", value: k, hint: "an even number" });
    const half = k / 2;
    const { edge, uplink } = cablings(options);
    const links: Link[] = [];
    for (let pod = 0; pod < k; pod++) {
      for (let e = pod * half; e < (pod + 1) * half; e++) {
        for (let n = 0; n < half; n++) links.push(edge(`h${e * half + n}:1`, `edge${e}:${n + 1}`));
        for (let a = 0; a < half; a++)
          links.push(uplink(`edge${e}:${half + 1 + a}`, `agg${pod * half + a}:${e - pod * half + 1}`));
      }
      for (let a = 0; a < half; a++) {
        for (let c = 0; c < half; c++)
          links.push(uplink(`agg${pod * half + a}:${half + 1 + c}`, `core${a * half + c}:${pod + 1}`));
      }
    }
    const nodes = [
      ...nodesOf("h", "host", k * half * half, 1),
      ...nodesOf("edge", "edge", k * half, k),
      ...nodesOf("agg", "aggregation", k * half, k),
      ...nodesOf("core", "core", half * half, k),
    ];
    return { nodes, links };
  });
}

function nodesOf(prefix: string, role: string, length: number, ports: number): FabricNode[] {
  return Array.from({ length }, (_, index) => ({ name: `${prefix}${index}`, role, index, ports }));
}

/** What cables a pair of ports. */
type Connect = (from: string, to: string) => Link;

function cablings(options: { edge?: Cabling; uplink?: Cabling }): { edge: Connect; uplink: Connect } {
  const cabled = (path: string, cabling: Cabling = {}): Connect => {
    if (typeof cabling !== "function" && !isObject(cabling)) wrongType(path, "an object or a function", cabling);
    return (from, to) => ({ from, to, ...(typeof cabling === "function" ? cabling(from, to) : cabling) });
  };
  return { edge: cabled("edge", options.edge), uplink: cabled("uplink", options.uplink ?? options.edge) };
}

/** Each number is one of ports of a switch. */
function count(path: string, value: unknown): number {
  const number = unsigned(path, value, 32);
  if (number > 0 && number <= MAX_PORTS) return number;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: number, hint: `1 to ${MAX_PORTS}` });
}
