/** Topologies are tables of links: each port has one cable at most, and all hosts reach each other in the known number of hops. */
import { describe, expect, test } from "vitest";
import { createFabric, fatTree, leafSpine, type Topology } from "../../src/fabric/index.js";
import { refused } from "../mlx5dv/support/directRules.js";

const deviceOf = (port: string): string => port.slice(0, port.lastIndexOf(":"));

/** The numbers of cables between a host and all others. */
function distances({ links }: Topology, from: string): Map<string, number> {
  const found = new Map([[from, 0]]);
  for (const [name, hops] of found) {
    for (const { from, to } of links) {
      const [a, b] = [deviceOf(from), deviceOf(to)];
      const next = a === name ? b : b === name ? a : undefined;
      if (next !== undefined && !found.has(next)) found.set(next, hops + 1);
    }
  }
  return found;
}

function check(topology: Topology): void {
  const { nodes, links } = topology;
  const ports = new Map(nodes.map(({ name, ports }) => [name, ports ?? 1]));
  const used = links.flatMap(({ from, to }) => [from, to]);
  expect(new Set(used).size).toBe(used.length);
  for (const port of used)
    expect(Number(port.slice(port.lastIndexOf(":") + 1))).toBeLessThanOrEqual(ports.get(deviceOf(port))!);
  // Every port has its cable.
  expect(used).toHaveLength([...ports.values()].reduce((a, b) => a + b, 0));
}

describe("leafSpine", () => {
  const made = leafSpine({ spines: 2, leaves: 3, hostsPerLeaf: 4, edge: { delay: 5n }, uplink: { delay: 9n } });

  test("has a cable between each leaf and each spine", () => {
    check(made);
    expect(made.nodes).toHaveLength(12 + 3 + 2);
    const hops = distances(made, "h0");
    expect([hops.get("h3"), hops.get("h4"), hops.get("h11")]).toEqual([2, 4, 4]);
    expect(made.links).toContainEqual({ from: "h5:1", to: "leaf1:2", delay: 5n });
    expect(made.links).toContainEqual({ from: "leaf2:6", to: "spine1:3", delay: 9n });
  });

  test("gives each cable what a function returns", () => {
    const { links } = leafSpine({
      spines: 1,
      leaves: 1,
      hostsPerLeaf: 1,
      edge: (from, to) => ({ capture: `${from} ${to}` }),
      uplink: { seed: 3 },
    });
    expect(links).toEqual([
      { from: "h0:1", to: "leaf0:1", capture: "h0:1 leaf0:1" },
      { from: "leaf0:2", to: "spine0:1", seed: 3 },
    ]);
  });
});

test("fatTree has k³/4 hosts, 5k²/4 switches and at most six hops", () => {
  for (const k of [2, 4, 6]) {
    const made = fatTree({ k });
    check(made);
    const hosts = made.nodes.filter(({ role }) => role === "host");
    expect([hosts.length, made.nodes.length - hosts.length]).toEqual([k ** 3 / 4, (5 * k ** 2) / 4]);
    const hops = distances(made, "h0");
    const to = (host: number): number | undefined => hops.get(`h${host}`);
    expect(to(hosts.length - 1)).toBe(6);
    if (k > 2) expect([to(1), to(k / 2)]).toEqual([2, 4]);
  }
});

test("what is no topology is refused", () => {
  for (const [run, path] of [
    [() => leafSpine({ spines: 0, leaves: 1, hostsPerLeaf: 1 }), "spines"],
    [() => leafSpine({ spines: 1, leaves: 1.5, hostsPerLeaf: 1 }), "leaves"],
    [() => leafSpine({ spines: 1, leaves: 1, hostsPerLeaf: 1, hosts: 3 } as never), "hosts"],
    [() => fatTree({ k: 3 }), "k"],
    [() => fatTree({ k: 1e6 }), "k"],
  ] as const)
    expect(refused(run)).toMatchObject({ code: "EINVAL", path });
  expect(() => fatTree({ k: 2, edge: 5 as never })).toThrow(
    "fatTree: edge must be an object or a function, not number",
  );
});

test("a fabric is made of a topology in one call, or of links alone", async () => {
  const fabric = await createFabric(fatTree({ k: 2, edge: { delay: 5n } }));
  expect(fabric.devices.map(({ name, ports }) => `${name}/${ports}`)).toEqual(
    "h0/1 h1/1 edge0/2 edge1/2 agg0/2 agg1/2 core0/2".split(" "),
  );
  expect(fabric.cables()).toHaveLength(6);
  const { devices } = await createFabric({
    links: [
      { from: "a:2", to: "b" },
      { from: "b:3", to: "c:1" },
    ],
  });
  expect(devices.map(({ name, ports }) => `${name}/${ports}`)).toEqual(["a/2", "b/3", "c/1"]);
});
