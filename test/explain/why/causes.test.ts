/** The cause is in the first line: the port of a tunnel that was not read, RSS beside other rules, a rule that a drop shadows. */
import { describe, expect, test } from "vitest";
import { why, type Explanation, type Target } from "../../../src/explain/index.js";
import type { Layer } from "../../../src/packet/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { Rule } from "../../../src/model/rule/rule.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import { loadScenario } from "../../../src/scenario/index.js";

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4", source: "198.51.100.4", destination: "203.0.113.7" } as const;
const tcp = { header: "tcp", source_port: 40000, destination_port: 80 } as const;
const inner = [{ header: "ipv4", source: "10.0.0.1", destination: "10.0.0.7" }, tcp] as const;

async function explain(document: object, layers: readonly Layer[], target: Target): Promise<Explanation> {
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "a" }, { name: "b" }],
    tables: [{ name: "root", level: 0 }],
    ...document,
  });
  return why(device, 1, buildFrame(layers), target);
}

describe("a tunnel at another UDP port", () => {
  test.each([
    ["VXLAN", "misc.vxlan_vni", 4789, { header: "vxlan", vni: 5001 }, [ethernet, ...inner]],
    ["Geneve", "misc.geneve_vni", 6081, { header: "geneve", vni: 5001 }, [ethernet, ...inner]],
    ["GTP-U", "misc3.gtpu_teid", 2152, { header: "gtpu", teid: 5001 }, inner],
  ] as const)(
    "%s: the port comes first, and what the frame has is not added",
    async (name, field, port, header, rest) => {
      const match = { [field]: 5001, "inner.ipv4_dst": "10.0.0.7", "inner.tcp_dport": 80 };
      const rules = [{ name: "tunnel", table: "root", match, actions: [{ queue: "a" }] }];
      const udp = { header: "udp", source_port: 49152, destination_port: 8473 } as const;
      const layers: Layer[] = [ethernet, ipv4, udp, header, ...rest];
      const { sentence, mistake, repairs } = await explain({ rules }, layers, { kind: "rule", name: "tunnel" });
      expect(sentence).toBe(
        `rule "tunnel" does not match: UDP port 8473 is not ${port}, so no ${name} header was read; ${field}, inner.ip_version, inner.tcp_dport and 1 more are absent`,
      );
      expect(mistake?.name).toBe("tunnel-on-other-port");
      expect(repairs.find(({ of }) => of === "frame")?.sentence).toBe(
        `Send the frame with outer.udp_dport ${port} instead of 8473.`,
      );
      expect(repairs.filter(({ of }) => of === "rule")).toEqual([]);
      expect(repairs.map(({ of }) => of)).toEqual(name === "VXLAN" ? ["device", "frame"] : ["frame"]);
    },
  );

  test("a value that is another one is changed, not added", async () => {
    const rules = [{ name: "tunnel", table: "root", match: { "misc.vxlan_vni": 7 }, actions: [{ queue: "a" }] }];
    const udp = { header: "udp", destination_port: 8473 } as const;
    const layers: Layer[] = [ethernet, ipv4, udp, { header: "vxlan", vni: 5001 }, ethernet, ...inner];
    const { repairs } = await explain({ rules }, layers, { kind: "rule", name: "tunnel" });
    expect(repairs.map(({ sentence }) => sentence)).toEqual([
      "Send the frame with misc.vxlan_vni 7 instead of 5001 and outer.udp_dport 4789 instead of 8473.",
    ]);
  });
});

test("of a queue that RSS spreads to, the other rules that deliver to it are explained too", async () => {
  const key = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
  const document = {
    rqts: [{ name: "both", queues: ["a", "b"] }],
    tirs: [
      {
        name: "rss",
        rqt: "both",
        rx_hash_fn: "toeplitz",
        rx_hash_toeplitz_key: key,
        rx_hash_field_selector_outer: { l3_prot_type: "ipv4", selected_fields: ["src_ip", "dst_ip"] },
      },
    ],
    rules: [
      { name: "telnet", table: "root", match: { "outer.tcp_dport": 23 }, actions: [{ queue: "a" }] },
      { name: "spread", table: "root", priority: 1, match: {}, actions: [{ tir: "rss" }] },
    ],
  };
  const { reasons, sentence } = await explain(document, [ethernet, ipv4, tcp], { kind: "queue", name: "a" });
  expect(reasons.map(({ kind }) => kind)).toEqual(["action", "no match"]);
  expect(sentence).toContain('rule "spread" distributes frames by RSS, which gave this one to qp:b');
  expect(reasons[1]?.sentence).toBe('rule "telnet" does not match: outer.tcp_dport is 80, not 23');
});

describe("a rule that drops", () => {
  const rules = (match: object, actions: readonly unknown[] = [{ queue: "a" }]): object => ({
    rules: [
      { name: "block", table: "root", match: { "outer.ipv4_src": "198.51.100.0/24" }, actions: ["drop"] },
      { name: "web", table: "root", priority: 1, match, actions },
    ],
  });
  const end = { kind: "end" } as const;

  test("is named with the rule that it shadows, and no repair takes a side", async () => {
    const { sentence, reasons, repairs } = await explain(rules({ "outer.tcp_dport": 80 }), [ethernet, ipv4, tcp], end);
    expect(sentence).toBe('rule "block" drops the frame; rule "web" would match too, and comes later');
    expect(reasons.map(({ kind }) => kind)).toEqual(["lost", "earlier rule"]);
    expect(repairs).toEqual([]);
  });

  test("is named alone where the later rule takes all frames, drops too, or does not match", async () => {
    for (const document of [rules({}), rules({ "outer.tcp_dport": 80 }, ["drop"]), rules({ "outer.tcp_dport": 81 })]) {
      const { sentence } = await explain(document, [ethernet, ipv4, tcp], end);
      expect(sentence).toBe('rule "block" drops the frame');
    }
  });
});

test("rules of one name are told apart by table and priority", async () => {
  const matchers = [0, 1].map((priority) => ({ name: String(priority), table: "root", priority }));
  const rules = [
    { name: "model", table: "root", priority: 2, match: { "outer.udp_dport": 9 }, actions: [{ queue: "a" }] },
  ];
  const loaded = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "a" }],
    tables: [{ name: "root", level: 0 }],
    matchers,
    rules,
  });
  const actions = loaded.rules.get("model")?.actions ?? [];
  for (const [priority, address] of [
    [0, "10.0.0.0/8"],
    [1, "172.16.0.0/12"],
  ] as const)
    Rule.named(loaded.matchers.get(String(priority)) as Matcher, { "outer.ipv4_dst": address }, actions, "lan");
  const frame = buildFrame([ethernet, ipv4, tcp]);
  const { sentence } = await why(loaded.device, 1, frame, { kind: "queue", name: "a" });
  for (const priority of [0, 1])
    expect(sentence).toContain(`rule "lan" of the NIC_RX root table of the PF (priority ${priority})`);
});
