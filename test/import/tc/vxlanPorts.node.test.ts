/** UDP ports of VXLAN devices: the driver registers them, and the device reads VXLAN there. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { readCapture } from "../../../src/packet/capture/read.js";
import { loadScenario } from "../../../src/scenario/index.js";

const FILTER = "tc filter add dev vx ingress protocol ip prio 1 flower enc_key_id 7";
const DROP = "action drop";
const portsOf = (text: string): unknown => read(text).scenario?.device?.parser?.vxlanPorts;
const read = (text: string) => importRules(text, { format: "tc", lenient: true });
const refusedIn = (text: string): string[] =>
  read(text).findings.flatMap(({ severity, text: what, reason }) =>
    severity === "refused" ? [`${what}: ${reason}`] : [],
  );

/** After github vishvananda/netlink PR 810, with own words and values: commands, what tc shows, two frames. */
describe("a VXLAN device at port 8472", () => {
  const file = (name: string): Buffer => readFileSync(new URL(`vxlan-8472/${name}`, import.meta.url));

  test.each(["cmds.sh", "show.txt"])(
    "frame 1 reaches VF 1 of tc, frame 2 of another network does not: %s",
    async (name) => {
      const { scenario } = importRules(file(name).toString(), { lenient: true });
      expect(scenario?.device?.parser).toEqual({ vxlanPorts: [4789, 8472] });
      const { device } = await loadScenario(scenario ?? {});
      const frames: Uint8Array[] = [];
      for await (const batch of readCapture(file("t.pcap"))) frames.push(...batch.map(({ bytes }) => bytes.slice()));
      const to = frames.map((bytes) => device.receive(1, bytes).to.map((one) => one.name));
      expect(to).toEqual([["qp:vf2"], ["host:0"]]);
    },
  );

  test("its line is named", () => {
    const { driver } = importRules(file("cmds.sh").toString());
    expect(driver).toContainEqual(
      expect.objectContaining({ line: 1, column: 13, text: "vxlan0", does: "UDP port 8472 is registered for VXLAN" }),
    );
  });
});

describe("the ports", () => {
  const LINK = `5: vx: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/ether 3a:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    vxlan external id 0 srcport 0 0 dstport 48879 ttl auto ageing 300 udpcsum noudp6zerocsumtx addrgenmode eui64\n`;

  test.each<[string, string, unknown]>([
    ["ip link add", `ip link add vx type vxlan dstport 8472 external\n${FILTER} ${DROP}`, [4789, 8472]],
    ["the standard", `ip link add vx type vxlan dstport 4789 external\n${FILTER} ${DROP}`, undefined],
    ["that of Linux", `ip link add vx type vxlan id 7 dev eth0\n${FILTER} ${DROP}`, [4789, 8472]],
    ["enc_dst_port", `${FILTER} enc_dst_port 8472 ${DROP}`, [4789, 8472]],
    ["no port at all", `${FILTER} ${DROP}`, undefined],
    ["the name of Open vSwitch", `${FILTER.replace("vx", "vxlan_sys_48879")} ${DROP}`, [4789, 48879]],
    ["ip -d link", `${LINK}${FILTER} ${DROP}`, [4789, 48879]],
    [
      "an encapsulation",
      "tc filter add dev eth0_0 ingress protocol ip prio 1 flower action tunnel_key set src_ip 1.1.1.1 dst_ip 1.1.1.2 id 4 dst_port 8472 action mirred egress redirect dev vx",
      [4789, 8472],
    ],
  ])("of %s", (_, text, ports) => {
    expect(refusedIn(text)).toEqual([]);
    expect(portsOf(text)).toEqual(ports);
  });

  test("are those of the devices, once a device is declared", () => {
    const text = `ip link add vx type vxlan dstport 4789 external\n${FILTER} enc_dst_port 8472 ${DROP}`;
    expect(refusedIn(text)).toEqual(["8472: the driver accepts registered UDP ports only; that of the device is 4789"]);
    expect(portsOf(text)).toBeUndefined();
  });

  test("are four at most, and none of another header", () => {
    const add = (port: number): string => `ip link add vx${port} type vxlan dstport ${port} external\n`;
    const text = [8472, 8473, 8474, 8475, 6081].map(add).join("");
    expect(refusedIn(`${text}${FILTER} ${DROP}`)).toEqual([
      "vx8475: the device cannot read VXLAN at UDP port 8475: a device has 4 VXLAN ports at most",
      "vx6081: the device cannot read VXLAN at UDP port 6081: port 6081 is that of Geneve",
    ]);
  });

  test("tell devices apart", async () => {
    const { scenario } = read(
      `ip link add a type vxlan dstport 4789 external\nip link add b type vxlan dstport 8472 external
tc filter add dev a ingress prio 1 matchall action drop\ntc filter add dev b ingress prio 1 matchall action drop`,
    );
    const entries = scenario?.rules?.filter(({ table }) => table === "tunnels");
    expect(entries?.map(({ match }) => match)).toEqual([
      { "outer.udp_dport": 4789, "misc.vxlan_vni": "any" },
      { "outer.udp_dport": 8472, "misc.vxlan_vni": "any" },
    ]);
    await loadScenario(scenario ?? {});
  });
});
