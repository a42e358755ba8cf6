/** Which format a text is in, and texts of several formats. */
import { expect, test } from "vitest";
import { importRules } from "../../src/import/index.js";
import { formatOf, partsOf } from "../../src/import/recognition.js";

const FLOW = "flow create 0 ingress pattern eth / ipv4 / tcp dst is 80 / end actions queue index 1 / end";
const TC = "tc filter add dev eth0 ingress protocol ip flower ip_proto udp dst_port 53 action drop";
const DPCTL = "recirc_id(0),in_port(2),eth_type(0x0800),ipv4(proto=6), packets:3000, bytes:4000, used:0.1s, actions:3";

test("counters of datapath flows are no records of a steering dump", () => {
  expect(formatOf(DPCTL)).toBe("ovs-dpctl");
  expect(formatOf("2024-01-01 10:00:00 eth0:3000, up")).toBeUndefined();
  expect(formatOf("[12.5] 3000,0x1,0,00,1,flowsteer,flowsteer0,0,0,0,0,2")).toBe("mlx5-dump");
});

test("the format that explains the most lines wins", () => {
  expect(formatOf([TC, FLOW, FLOW].join("\n"))).toBe("testpmd");
  expect(formatOf([TC, TC, FLOW].join("\n"))).toBe("tc");
  expect(formatOf([DPCTL, DPCTL, "3000,0x1,0"].join("\n"))).toBe("ovs-dpctl");
});

test("commands of several tools are read by the importer of each, at their places", () => {
  const text = [
    "testpmd> " + FLOW,
    "PORT=53",
    TC.replace("53", "$PORT"),
    "ethtool -N eth0 flow-type tcp4 dst-port 22 action 2",
    FLOW,
  ];
  expect(partsOf(text.join("\n")).map(({ format }) => format)).toEqual(["testpmd", "tc", "ethtool"]);
  const { scenario, findings } = importRules(text.join("\n"), { lenient: true });
  const all = JSON.stringify(scenario);
  expect(all).toContain('"outer.tcp_dport":80');
  expect(all).toContain('"outer.udp_dport":53');
  expect(all).toContain('"outer.tcp_dport":22');
  for (const { line } of findings) expect(line).toBeLessThanOrEqual(5);
  const broken = importRules([FLOW, FLOW, TC.replace("flower", "flowr")].join("\n"), { lenient: true });
  expect(broken.findings.find(({ severity }) => severity === "refused")?.line).toBe(3);
});
