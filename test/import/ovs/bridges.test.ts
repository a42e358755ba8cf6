/** Several bridges in one text: whose flows are whose, and patch ports between them. */
import { describe, expect, it } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadBridge, steer } from "./support/steer.js";

function imported(text: string, map: Readonly<Record<string, string>> = {}) {
  const { scenario, findings } = importRules(text, { format: "ovs", lenient: true, map });
  if (scenario === null) throw new Error("a lenient import has a scenario");
  const said = findings.map(printFinding);
  return { scenario, said, refused: said.filter((one) => one.includes("not imported")) };
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const inside = buildFrame([
  { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" },
  { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
  { header: "udp", source_port: 7, destination_port: 8 },
]);

/** An integration bridge with two machines, a tunnel bridge: as OpenStack has them. */
const HOST = `
ovs-vsctl add-br br-int
ovs-vsctl add-port br-int vnet1 -- set interface vnet1 ofport_request=5
ovs-vsctl add-port br-int patch-tun -- set interface patch-tun type=patch options:peer=patch-int ofport_request=2
ovs-vsctl add-port br-tun patch-int -- set Interface patch-int type=patch options:peer=patch-tun
ovs-vsctl add-port br-tun vx0 -- set interface vx0 type=vxlan options:remote_ip=192.0.2.2 options:local_ip=192.0.2.1 options:key=flow options:dst_port=4789
ovs-appctl tnl/neigh/set br-tun 192.0.2.2 02:00:00:00:00:22
ovs-appctl tnl/neigh/set br-tun 192.0.2.1 02:00:00:00:00:11
$ ovs-ofctl dump-flows br-int
 cookie=0x1, table=0, n_packets=3, priority=10,in_port=vnet1 actions=load:0x9->NXM_NX_REG6[],resubmit(,60)
 cookie=0x1, table=0, priority=5,in_port="patch-tun" actions=output:5
 cookie=0x1, table=60, priority=1 actions=output:2
$ ovs-ofctl dump-flows br-tun
 cookie=0x2, table=0, priority=1,in_port="patch-int" actions=resubmit(,2)
 cookie=0x2, table=0, priority=1,in_port=vx0 actions=resubmit(,4)
 cookie=0x2, table=2, priority=7,reg6=0x9 actions=drop
 cookie=0x2, table=2, priority=0 actions=set_tunnel:0x2a,output:vx0
 cookie=0x2, table=4, priority=1,tun_id=0x2a actions=output:"patch-int"
 cookie=0x2, table=4, priority=0 actions=drop
`;

describe("bridges that a patch port connects", () => {
  const map = { vnet1: "vf1" };
  const outer = (vni: number): Uint8Array =>
    buildFrame([
      { header: "ethernet", destination: "02:00:00:00:00:11", source: "02:00:00:00:00:22" },
      { header: "ipv4", source: "192.0.2.2", destination: "192.0.2.1" },
      { header: "udp", source_port: 40000, destination_port: 4789, checksum: 0 },
      { header: "vxlan", vni },
      { header: "payload", bytes: inside },
    ]);

  it("carries a frame from a machine to the tunnel, without the registers of the first bridge", async () => {
    const { scenario, refused } = imported(HOST, map);
    expect(refused).toEqual([]);
    const [out, ...more] = steer(await loadBridge(scenario), ["2", hex(inside)]);
    expect(more).toEqual([]);
    expect(out?.[0]).toBe("1");
    // Headers of 50 bytes, the key 0x2a, then the frame as it was.
    expect(out?.[1].slice(-inside.length * 2)).toBe(hex(inside));
    expect(out?.[1].slice(92, 98)).toBe("00002a");
  });

  it("carries a frame of the tunnel to the machine, without the tunnel's headers", async () => {
    const loaded = await loadBridge(imported(HOST, map).scenario);
    expect(steer(loaded, ["1", hex(outer(0x2a))])).toEqual([["2", hex(inside)]]);
    expect(steer(loaded, ["1", hex(outer(0x2b))])).toEqual([]);
  });

  it("reads the ports of ovs-vsctl show", async () => {
    const text = `
# ovs-vsctl show
9f1c0c5e-0b6a-4a0e-8c55-0e1f6f7d2a01
    Manager "ptcp:6640:127.0.0.1"
        is_connected: true
    Bridge br-a
        fail_mode: secure
        datapath_type: system
        Port "eth0"
            tag: 7
            Interface "eth0"
        Port int-b
            Interface int-b
                type: patch
                options: {peer=int-a}
    Bridge br-b
        Port br-b
            Interface br-b
                type: internal
        Port int-a
            Interface int-a
                type: patch
                options: {peer=int-b}
    ovs_version: "3.1.0"
# ovs-ofctl dump-flows br-a
 priority=1,in_port=eth0 actions=output:"int-b"
 priority=1,in_port="int-b" actions=eth0
# ovs-ofctl dump-flows br-b
 priority=1,in_port="int-a" actions=LOCAL
 priority=1,in_port=LOCAL actions=IN_PORT,output:"int-a"
`;
    const { scenario, said } = imported(text);
    expect(said.filter((one) => !one.includes("IN_PORT"))).toEqual([
      expect.stringContaining("port br-b:LOCAL is taken for the PF"),
      expect.stringContaining("port eth0 is taken for the uplink"),
    ]);
    const loaded = await loadBridge(scenario);
    expect(steer(loaded, ["1", hex(inside)])).toEqual([["LOCAL", hex(inside)]]);
    expect(steer(loaded, ["LOCAL", hex(inside)])).toEqual([
      ["1", hex(inside)],
      ["LOCAL", hex(inside)],
    ]);
  });

  it("keeps groups and meters of bridges apart", () => {
    const { scenario, refused } = imported(`
ovs-ofctl add-group br0 group_id=1,type=all,bucket=output:1
ovs-ofctl add-group br1 group_id=1,type=all,bucket=output:2
ovs-ofctl add-meter br0 meter=1,kbps,band=type=drop,rate=1000
ovs-ofctl add-meter br1 meter=1,kbps,band=type=drop,rate=2000
ovs-ofctl add-flow br0 in_port=3,actions=meter:1,group:1
ovs-ofctl add-flow br1 in_port=3,actions=meter:1,group:1`);
    expect(refused).toEqual([]);
    const meters = new Map(scenario.asoObjects?.map(({ name, flow_meter: meter }) => [name, meter?.cir]));
    expect(meters.get("meter br1:1")).toBe(2 * Number(meters.get("meter 1")));
    const used = scenario.rules?.flatMap(({ name, actions = [] }) =>
      actions.flatMap((one) => (typeof one === "object" && one.aso !== undefined ? [[name, one.aso.object]] : [])),
    );
    expect(new Set(used?.map(String))).toEqual(
      new Set(["table=0,in_port=3,meter 1", "br1 table=0,in_port=3,meter br1:1"]),
    );
  });
});

describe("bridges that nothing connects", () => {
  const text = `
ovs-ofctl add-flow br0 in_port=1,actions=output:2
ovs-ofctl add-flow br1 in_port=1,actions=output:2
ovs-ofctl add-flow br1 in_port=2,actions=LOCAL`;

  it("gives ports of one number to each", async () => {
    const map = { 1: "uplink", 2: "vf1", "br1:1": "vf2", "br1:2": "vf3", br1: "pf" };
    const { scenario, said } = imported(text, map);
    expect(said).toEqual([]);
    const loaded = await loadBridge(scenario);
    expect(steer(loaded, ["1", hex(inside)])).toEqual([["2", hex(inside)]]);
    expect(steer(loaded, ["3", hex(inside)])).toEqual([["4", hex(inside)]]);
    expect(steer(loaded, ["4", hex(inside)])).toEqual([["LOCAL", hex(inside)]]);
    expect(steer(loaded, ["2", hex(inside)])).toEqual([]);
  });

  it("chooses ports, and says how to choose others", () => {
    const chosen = imported(text).said.map((one) => /: (port .*?);/.exec(one)?.[1]);
    expect(chosen).toEqual([
      ...["port br1:LOCAL is taken for the PF", "port 1 is taken for the uplink"],
      ...["port br1:1 is taken for VF 1", "port 2 is taken for VF 2", "port br1:2 is taken for VF 3"],
    ]);
  });

  it("says that one port cannot be in two bridges", () => {
    const map = { 1: "uplink", 2: "vf1", "br1:1": "vf2", "br1:2": "vf3", br1: "pf" };
    const other = `${text}\novs-ofctl add-flow br2 in_port=1,actions=LOCAL`;
    expect(imported(other, { ...map, "br2:1": "vf2", br2: "vf4" }).refused).toEqual([
      expect.stringContaining("vport 2 is in the bridge br1 already: --map gives each port one of its own"),
    ]);
  });

  it("says which bridge a line is taken for that names none", () => {
    const { said } = imported(
      "ovs-ofctl add-flow br0 actions=1\novs-ofctl add-flow br1 actions=1\n in_port=1 actions=2",
    );
    expect(said).toContainEqual(
      expect.stringMatching(/3:2: assumed: .*taken for a line of br1, which the previous command names/),
    );
  });
});

describe("what is refused of patch ports", () => {
  const PORT = "ovs-vsctl add-port br0 p -- set interface p type=patch";
  const FLOW = "ovs-ofctl add-flow br0 in_port=1,actions=output:p";
  const PEER = "ovs-vsctl add-port br1 q -- set interface q type=patch";

  it.each([
    ["without a peer", PORT, "the text does not say the peer of p: add what ovs-vsctl show prints"],
    ["a peer that is not there", `${PORT} options:peer=q`, "its peer q is no patch port whose peer is p"],
    [
      "a peer with another peer",
      `${PORT} options:peer=q\n${PEER} options:peer=r`,
      "its peer q is no patch port whose peer is p",
    ],
    [
      "a bridge without flows",
      `${PORT} options:peer=q\n${PEER} options:peer=p`,
      "it leads to br1, and the text has no flows of that bridge",
    ],
    [
      "a port of another bridge",
      "ovs-vsctl add-port br1 p\novs-ofctl add-flow br1 actions=drop",
      "port p is in the bridge br1",
    ],
  ])("%s", (_, lines, reason) => {
    const at = lines.split("\n").length + 1;
    expect(imported(`${lines}\n${FLOW}`).refused).toEqual([
      expect.stringMatching(new RegExp(`^input:${at}:49: not imported: output:(?:br0:)?p .*${reason}`)),
    ]);
  });
});
