/** The order that drivers give to rules (docs/drivers.md). */
import { describe, expect, test } from "vitest";
import { driversOf, type PmdRule } from "../../src/drivers/driver.js";
import { importRules, type DriverName } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario } from "../../src/scenario/index.js";

const FRAME = "ipv4 10.0.0.1 > 198.51.100.1 / udp 5 > 53";

/** Where a frame arrives after an import. */
async function arrives(text: string, packet = FRAME, driver?: DriverName): Promise<string> {
  const { scenario } = importRules(text, { ...(driver === undefined ? {} : { driver }), lenient: true });
  const { device } = await loadScenario(scenario ?? "");
  const { to, verdict } = device.receive(1, buildFrame(parsePacket(packet).layers));
  return to[0]?.name ?? verdict;
}

const flow = (pattern: string, queue: number, attributes = "ingress"): string =>
  `flow create 0 ${attributes} pattern ${pattern} / end actions queue index ${queue} / end`;

describe("the mlx5 PMD", () => {
  // Own rules, found with reports of group 0 and of L4 items without L3.
  const FLAT = [
    flow("eth / ipv4", 0),
    flow("eth / ipv4 / udp dst is 53", 1),
    flow("eth", 2),
    flow("eth / ipv6", 3),
  ].join("\n");
  const GROUP = [
    "flow create 0 ingress group 0 pattern eth / end actions jump group 1 / end",
    flow("eth / ipv4", 0, "ingress group 1"),
    flow("eth / ipv4 dst is 198.51.100.1", 1, "ingress group 1"),
  ].join("\n");

  test("puts deeper patterns first; without it the text has its order", async () => {
    expect(await arrives(FLAT)).toBe("qp:queue 1");
    expect(await arrives(FLAT, "ipv4 10.0.0.1 > 10.0.0.2 / tcp > 80")).toBe("qp:queue 0");
    expect(await arrives(FLAT, "ipv6 2001:db8::1 > 2001:db8::2 / tcp > 80")).toBe("qp:queue 3");
    expect(await arrives(FLAT, FRAME, "none")).toBe("qp:queue 0");
    expect(await arrives(FLAT, FRAME, "mlx5-pmd-hws")).toBe("qp:queue 0");
  });

  test("tries the newer matcher of equal priority first outside root tables, the older in them", async () => {
    expect(await arrives(GROUP)).toBe("qp:queue 1");
    expect(await arrives(GROUP, FRAME, "none")).toBe("qp:queue 0");
    expect(await arrives(GROUP, FRAME, "mlx5-pmd-hws")).toBe("qp:queue 0");
    const root = [flow("eth / ipv4", 0), flow("eth / ipv4 dst is 198.51.100.1", 1)].join("\n");
    expect(await arrives(root)).toBe("qp:queue 0");
  });

  test("a matcher has the age of its first rule", async () => {
    const text = [
      GROUP,
      flow("eth / ipv4 src is 10.0.0.1", 5, "ingress group 1"),
      flow("eth / ipv4 dst is 198.51.100.2", 6, "ingress group 1"),
    ].join("\n");
    expect(await arrives(text, "ipv4 10.0.0.1 > 198.51.100.2 / udp > 53")).toBe("qp:queue 5");
  });

  test("the given priority counts before the depth", async () => {
    const text = [flow("eth / ipv4 / udp", 0, "priority 1 ingress"), flow("eth", 1, "priority 0 ingress")].join("\n");
    expect(await arrives(text)).toBe("qp:queue 1");
  });

  test.each<[readonly string[], number, number]>([
    [["eth"], 0, 2],
    [["eth", "vlan"], 0, 2],
    [["eth", "vlan", "ipv4"], 0, 1],
    [["eth", "ipv6"], 0, 1],
    [["eth", "ipv6", "ipv6_frag_ext"], 0, 1],
    [["eth", "ipv4", "tcp"], 0, 0],
    [["eth", "ipv4", "udp", "tag"], 0, 0],
    [["eth", "ipv4", "icmp"], 0, 0],
    [["eth", "ipv4", "udp", "esp"], 0, 0],
    [["eth", "ipv4", "udp", "vxlan"], 0, 0],
    [["eth", "ipv4", "udp", "vxlan"], 2, 2],
    // The last header decides, not the deepest one.
    [["eth", "ipv4", "udp", "vxlan", "eth"], 0, 2],
    [["eth", "ipv4", "udp", "vxlan", "eth", "ipv4"], 0, 1],
    [["eth", "ipv4", "gre", "gre_key"], 0, 0],
    [["port_id"], 0, 0],
  ])("subpriority of %j, RSS level %i: %i", (items, rssLevel, subpriority) => {
    const { pmd } = driversOf("mlx5-pmd");
    const rule: PmdRule = { domain: "nic_rx", group: 0, priority: 2, items, rssLevel };
    expect(pmd?.priority(rule)).toBe(6 + subpriority);
  });

  test("priorities that it refuses are told", () => {
    const { findings } = importRules(flow("eth", 0, "priority 4 ingress"));
    expect(findings.map(({ reason }) => reason).join()).toContain("refuses priorities above 3 in this group");
    const none = importRules(flow("eth", 0, "priority 4 ingress"), { driver: "none" });
    expect(none.findings.map(({ reason }) => reason).join()).not.toContain("refuses");
    const far = importRules(flow("eth", 0, "group 1 priority 30000 ingress"), { lenient: true });
    expect(far.findings.at(-1)?.reason).toContain("refuses priorities above 21843");
  });

  test("transfer rules of group 0 are in table 1, and a rule of the driver leads there", () => {
    const text = "flow create 0 transfer pattern port_id id is 1 / eth / end actions of_pop_vlan / port_id id 0 / end";
    const { scenario, driver } = importRules(text);
    expect(scenario?.tables).toEqual([
      { name: "fdb group 0", domain: "fdb", level: 1 },
      { name: "fdb root", domain: "fdb", level: 0 },
    ]);
    expect(scenario?.rules?.[0]).toMatchObject({ table: "fdb root", actions: [{ table: "fdb group 0" }] });
    expect(driver.map(({ does }) => does).join()).toContain("table 1");
    expect(importRules(text, { driver: "none" }).scenario?.tables?.[0]?.level).toBe(0);
  });

  test("a matcher whose rules were destroyed is gone", () => {
    const { scenario } = importRules([flow("eth", 0), flow("eth / ipv4", 1), "flow destroy 0 rule 0"].join("\n"));
    expect(scenario?.matchers?.map(({ priority }) => priority)).toEqual([1]);
  });
});

describe("mlx5e", () => {
  // Own rules.
  const RULES = `ethtool -N eth0 flow-type udp4 dst-ip 198.51.100.1 action 1 loc 0
ethtool -N eth0 flow-type udp4 dst-ip 198.51.100.1 dst-port 53 action 2 loc 5
ethtool -N eth0 flow-type ether dst 02:00:00:00:00:02 action 3 loc 1`;

  test("orders ethtool's rules by number of fields, those of ether last", async () => {
    expect(await arrives(RULES)).toBe("host:2");
    expect(await arrives(RULES, "ipv4 10.0.0.1 > 198.51.100.1 / udp > 54")).toBe("host:1");
    expect(await arrives(RULES, FRAME, "none")).toBe("host:1");
    const priorities = importRules(RULES).scenario?.hostRules?.map(({ name, priority }) => [name, priority]);
    expect(priorities).toEqual([
      ["eth0 5", 4],
      ["eth0 0", 5],
      ["eth0 1", 10],
      ["driver: PF receives", 65535],
    ]);
  });

  test("a listing counts as its commands do", () => {
    const { scenario } = importRules(`Filter: 0
	Rule Type: UDP over IPv4
	Src IP addr: 0.0.0.0 mask: 255.255.255.255
	Dest IP addr: 198.51.100.1 mask: 0.0.0.0
	TOS: 0x4 mask: 0x3
	Src port: 0 mask: 0xffff
	Dest port: 53 mask: 0x0
	Action: Direct to queue 2`);
    expect(scenario?.hostRules?.[0]?.priority).toBe(4);
  });

  test("vlan and dst-mac are fields too", () => {
    const { scenario } = importRules(
      "ethtool -N eth0 flow-type ip4 l4proto 47 vlan 0x5 m 0xf000 dst-mac 02:00:00:00:00:01 action 1 loc 9",
    );
    expect(scenario?.hostRules?.[0]?.priority).toBe(3);
  });
});

test("an unknown driver is refused with the names", () => {
  expect(() => importRules("", { driver: "mlx5" as DriverName })).toThrow(/mlx5-pmd/);
});
