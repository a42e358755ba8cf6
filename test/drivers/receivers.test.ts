/** Rules that drivers make for frames that no other rule takes (docs/drivers.md). */
import { describe, expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { importRules, type ImportOptions } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";

const frame = (text: string): Uint8Array => buildFrame(parsePacket(text).layers);

async function arrives(text: string, packet: string, options: ImportOptions = {}): Promise<string> {
  const { scenario, findings } = importRules(text, options);
  if (scenario === null) throw new Error(JSON.stringify(findings));
  const { device } = await loadScenario(scenario);
  const { to, verdict } = device.receive(1, frame(packet));
  return to[0]?.name ?? verdict;
}

describe("the mlx5 PMD", () => {
  const FLOW = "flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 1 / end";
  const TCP = "ipv4 10.0.0.1 > 10.0.0.2 / tcp > 80";

  test("delivers what no rule takes to all queues", async () => {
    const { scenario } = importRules(FLOW);
    const { device } = await loadScenario(scenario ?? "");
    const names = new Set<string>();
    for (let n = 1; n < 60; n++)
      names.add(device.receive(1, frame(`ipv4 10.0.0.${n} > 10.0.0.2 / tcp > 80`)).to[0]?.name ?? "");
    expect([...names].sort()).toEqual(["qp:queue 0", "qp:queue 1"]);
    expect(await arrives(FLOW, "ipv4 10.0.0.1 > 10.0.0.2 / udp > 53")).toBe("qp:queue 1");
    expect(await arrives(FLOW, "arp")).toBe("qp:queue 0");
    expect(await arrives(`port config all rxq 1\n${FLOW}`, TCP)).toBe("qp:queue 0");
  });

  test("does not with flow isolate, and where its rules are not wanted", async () => {
    expect(await arrives(`flow isolate 0 on\n${FLOW}`, TCP)).toBe("miss");
    expect(await arrives(`flow isolate 0 1\n${FLOW}\nflow isolate 0 off`, TCP)).not.toBe("miss");
    expect(await arrives(FLOW, TCP, { driver: "none" })).toBe("miss");
    expect(importRules("flow isolate 0 maybe", { format: "testpmd" }).findings[0]?.text).toBe("maybe");
  });

  test("its rules come after all others of the root table, and are not exported", () => {
    const { scenario } = importRules(FLOW);
    expect(scenario?.rules?.find(({ name }) => name === "driver: port 0 receives")?.priority).toBe(14);
    expect(exportRules(scenario ?? "", { format: "testpmd" }).text).not.toContain("priority 14");
  });
});

// After NVIDIA/daqiri issues 168 and 205; own values.
test("send_to_kernel leads past the rules of DPDK, to those of the kernel", async () => {
  const text = `flow isolate 0 on
flow create 0 ingress pattern eth / end actions jump group 3 / end
flow create 0 group 3 priority 1 ingress pattern eth / end actions send_to_kernel / end
flow create 0 group 3 ingress pattern eth / ipv4 / udp dst is 4096 / end actions mark id 7 / queue index 0 / end`;
  const kernel: Scenario = { flowsteer: 1, hostRules: [{ application: "nic", action: { queue: 4 } }] };
  expect(await arrives(text, "ipv4 10.0.0.1 > 10.0.0.2 / udp > 4096", { into: kernel })).toBe("qp:queue 0");
  expect(await arrives(text, "ipv4 10.0.0.1 > 10.0.0.2 / udp > 4097", { into: kernel })).toBe("host:4");
});

describe("a VF", () => {
  const TC = `tc qdisc add dev eth0 ingress
tc filter add dev eth0 ingress protocol ip flower ip_proto tcp dst_port 80 action mirred egress redirect dev eth0_1`;
  const OPTIONS: ImportOptions = { map: { eth0: "uplink", eth0_1: "vf2" } };
  const WEB = "ipv4 10.0.0.1 > 10.0.0.2 / tcp > 80";

  test("receives what is forwarded to it", async () => {
    expect(await arrives(TC, WEB, OPTIONS)).toBe("qp:vf2");
    expect(await arrives(TC, WEB, { ...OPTIONS, driver: "none" })).toBe("miss");
  });

  test("its queue and flow do not keep the rules from being exported", () => {
    const { scenario } = importRules(TC, OPTIONS);
    expect(scenario?.queues?.map(({ name }) => name)).toEqual(["vf1", "vf2"]);
    expect(exportRules(scenario ?? "", { format: "tc" }).findings).toEqual([]);
  });

  test("with a queue of its own stays as it is", () => {
    const { scenario } = importRules(TC, {
      ...OPTIONS,
      into: { flowsteer: 1, device: { vports: 2 }, queues: [{ name: "own", function: 2 }] },
    });
    expect(scenario?.queues?.map(({ name }) => name)).toEqual(["own", "vf1"]);
    expect(scenario?.flows?.map(({ queue }) => queue)).toEqual(["vf1"]);
  });
});

describe("the kernel", () => {
  const WEB = "ipv4 10.0.0.1 > 10.0.0.2 / tcp > 80";
  const DNS = "ipv4 10.0.0.1 > 10.0.0.2 / udp > 53";
  const TC = "tc filter add dev eth0 ingress protocol ip flower ip_proto tcp dst_port";

  test.each([
    ["tc, without a filter for it", `${TC} 22 action drop`, WEB],
    ["tc, action pass", `${TC} 80 action pass`, WEB],
    ["Open vSwitch, LOCAL", "table=0,priority=5,in_port=1,tcp,actions=LOCAL", WEB],
    [
      "nftables",
      "table netdev t { chain c { type filter hook ingress device eth0 priority 0; udp dport 53 drop; } }",
      WEB,
    ],
    ["ethtool", "ethtool -N eth0 flow-type tcp4 dst-port 80 action 3 loc 1", DNS],
  ])("receives what no rule takes: %s", async (_, text, packet) => {
    expect(await arrives(text, packet)).toBe("host:0");
    expect(await arrives(text, packet, { driver: "none" })).toBe("miss");
  });

  test("of a VF with rules of ethtool receives there", async () => {
    const { scenario } = importRules("ethtool -N eth5 flow-type tcp4 dst-port 80 action 3 loc 1", {
      map: { eth5: "vf1" },
    });
    expect(scenario?.hostRules?.map(({ name, function: vf }) => [name, vf])).toEqual([
      ["eth5 1", 1],
      ["driver: PF receives", undefined],
      ["driver: vf1 receives", 1],
    ]);
  });

  test("receives nothing where the scenario has queues of its own", async () => {
    const into: Scenario = { flowsteer: 1, queues: [{ name: "own" }], flows: [{ queue: "own", type: "all_default" }] };
    expect(await arrives(`${TC} 22 action drop`, WEB, { into })).toBe("qp:own");
  });

  test("is not exported", () => {
    const { scenario } = importRules(`${TC} 22 action drop`);
    expect(scenario?.hostRules?.[0]?.name).toBe("driver: PF receives");
    const { text, findings } = exportRules(scenario ?? "", { format: "tc" });
    expect(findings).toEqual([]);
    expect(text).not.toContain("driver");
  });

  test("spreads frames over the queues that ethtool sets, by connection", async () => {
    const text = "ethtool -L eth0 combined 4\nethtool -N eth0 flow-type tcp4 dst-port 80 action 3 loc 1";
    expect(await arrives(text, WEB)).toBe("qp:eth0 queue 3");
    expect(await arrives(text, "arp")).toBe("qp:eth0 queue 0");
    const queues = new Set<string>();
    for (let n = 1; n < 60; n++) queues.add(await arrives(text, `ipv4 10.0.0.${n} > 10.0.0.2 / udp > 53`));
    expect(queues.size).toBe(4);
    expect(await arrives(`${text}\nethtool -X eth0 start 2 equal 1`, WEB)).toBe("host:3");
    const weighted = `${text}\nethtool -X eth0 weight 0 1 1 0`;
    queues.clear();
    for (let n = 1; n < 60; n++) queues.add(await arrives(weighted, `ipv4 10.0.0.${n} > 10.0.0.2 / udp > 53`));
    expect([...queues].sort()).toEqual(["qp:eth0 queue 1", "qp:eth0 queue 2"]);
    expect(await arrives(text, WEB, { driver: "none" })).toBe("host:3");
  });
});
