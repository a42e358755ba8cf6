/** `device.parser.vxlanPorts`: VXLAN is read at these ports only, also after a rule has changed the frame. */
import { describe, expect, test } from "vitest";
import { run, refusal } from "./support/scenarios.js";

const ETHERNET = { header: "ethernet" };
const IPV4 = { header: "ipv4" };
const INNER = [ETHERNET, IPV4, { header: "tcp" }];
const tunnel = (port: number): object[] => [
  ETHERNET,
  IPV4,
  { header: "udp", destination_port: port },
  { header: "vxlan", vni: 77 },
];

/** Whether frames come to a rule with VNI 77 once the root table has acted on them. */
async function areRead(vxlanPorts: readonly number[] | undefined, frames: object[], actions: object[] = []) {
  const document = {
    flowsteer: 1,
    device: vxlanPorts === undefined ? {} : { parser: { vxlanPorts } },
    queues: [{ name: "tunnel" }, { name: "plain" }],
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 1 },
      { name: "last", level: 2 },
    ],
    rules: [
      { table: "root", actions: [{ table: "next" }] },
      { table: "next", actions: [...actions, { table: "last" }] },
      { table: "last", match: { "misc.vxlan_vni": 77 }, actions: [{ queue: "tunnel" }] },
      { table: "last", priority: 1, actions: [{ queue: "plain" }] },
    ].map((rule, i) => ({ name: `rule ${i}`, ...rule })),
    frames: frames.map((headers) => ({ headers })),
  };
  const [, outcomes] = await run(document);
  return outcomes.map(({ to }) => to[0] === "qp:tunnel");
}

const AT = [8472, 4789];
const TUNNELS = AT.map((port) => [...tunnel(port), ...INNER]);

test.each<[readonly number[] | undefined, boolean[]]>([
  [undefined, [false, true]],
  [[4789], [false, true]],
  [
    [4789, 8472],
    [true, true],
  ],
  [[8472], [true, false]],
  [[], [false, false]],
])("the frames of ports 8472 and 4789, with ports %j", async (ports, read) => {
  expect(await areRead(ports, TUNNELS)).toEqual(read);
});

describe("a frame that a rule changed is read again", () => {
  test("after another UDP port", async () => {
    const [frame] = [[...tunnel(9999), ...INNER]];
    const to = (port: number): object[] => [{ modify: [{ set: "outer.udp_dport", to: port }] }];
    expect(await areRead([4789, 8472], [frame], to(8472))).toEqual([true]);
    expect(await areRead(undefined, [frame], to(8472))).toEqual([false]);
    expect(await areRead([8472], [frame], to(4789))).toEqual([false]);
  });

  test("after an encapsulation, which writes the port of its bytes", async () => {
    const around = (port: number): object[] => [{ reformat: { type: "l2_to_l2_tunnel", headers: tunnel(port) } }];
    expect(await areRead([4789, 8472], [INNER], around(8472))).toEqual([true]);
    expect(await areRead(undefined, [INNER], around(8472))).toEqual([false]);
    expect(await areRead(undefined, [INNER], around(4789))).toEqual([true]);
  });

  test("after a decapsulation, which needs a registered port", async () => {
    const twice = [[...tunnel(8472), ...tunnel(4789), ...INNER]];
    const decap = [{ reformat: { type: "l2_tunnel_to_l2" } }];
    expect(await areRead([4789, 8472], twice, decap)).toEqual([true]);
    expect(await areRead([8472], twice, decap)).toEqual([false]);
    expect(await areRead(undefined, twice, decap)).toEqual([false]);
  });
});

test.each<[unknown, string]>([
  [
    [4789, 4790],
    "device.parser.vxlanPorts[1] = 4790: outside the range that the field can hold (EINVAL); port 4790 is",
  ],
  [
    [1, 2, 3, 4, 5],
    "device.parser.vxlanPorts[4] = 5: outside the range that the field can hold (EINVAL); a device has 4",
  ],
  [[0], "device.parser.vxlanPorts[0] = 0"],
  ["8472", "device.parser.vxlanPorts"],
])("ports that no device has are refused: %j", async (vxlanPorts, message) => {
  expect(await refusal({ flowsteer: 1, device: { parser: { vxlanPorts } } })).toContain(message);
});
