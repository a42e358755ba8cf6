/** What is there after all commands: rules that are destroyed, refused by testpmd, or behind commands that were refused. */
import { describe, expect, test } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";

const of = (...lines: readonly string[]) =>
  importRules(lines.join("\n"), { format: "testpmd", lenient: true, map: { port0: "uplink" }, driver: "none" });
const names = (...lines: readonly string[]) => of(...lines).scenario?.rules?.map(({ name }) => name) ?? [];
const said = (...lines: readonly string[]) => of(...lines).findings.map(printFinding);

const flow = (port: number, more = ""): string =>
  `flow create 0 ${more}ingress pattern eth / ipv4 / tcp dst is ${port} / end actions queue index 1 / end`;

describe("rules that are gone", () => {
  test("flow destroy, by number and by user_id", () => {
    expect(names(flow(1), flow(2), flow(3), "flow destroy 0 rule 0 rule 2")).toEqual(["port 0 flow 1"]);
    expect(names(flow(1, "user_id 0x7 "), flow(2), "flow destroy 0 rule 7 user_id")).toEqual(["port 0 flow 1"]);
    expect(said(flow(1), "flow destroy 0 rule 5")).toEqual([
      expect.stringContaining("the rules that it destroys"),
      "input:2:21: assumed: 5: port 0 has no such rule before this",
    ]);
  });

  test("testpmd numbers a rule after the newest that exists", () => {
    // The second rule and the third have number 1.
    expect(names(flow(1), flow(2), "flow destroy 0 rule 1", flow(3), "flow destroy 0 rule 1")).toEqual([
      "port 0 flow 0",
    ]);
  });

  test("flow flush, of one port", () => {
    const other = flow(1).replace("create 0", "create 1");
    expect(names(flow(1), other, "flow flush 0", flow(2))).toEqual(["port 1 flow 0", "port 0 flow 1"]);
  });

  test("flow update", () => {
    const { scenario } = of(flow(1), "flow update 0 0 actions queue index 2 / end");
    expect(scenario?.rules?.map(({ actions }) => actions)).toEqual([[{ queue: "queue 2" }]]);
  });

  test("a rule that testpmd refused, and one that it numbered", () => {
    const error =
      "port_flow_complain(): Caught PMD error type 16 (specific action): cause: 0x7ffd5b3, unsupported: Operation not supported";
    expect(names(flow(1), error, flow(2), "Flow rule #0 created", "flow destroy 0 rule 0")).toEqual([]);
    expect(names(flow(1), "Flow rule #7 created", flow(2), "flow destroy 0 rule 8")).toEqual(["port 0 flow 0"]);
    expect(said(flow(1), error)).toEqual([
      `input:2:1: assumed: ${error}: testpmd refused the command before it: it has no effect`,
    ]);
    expect(names(flow(1), "Flow rule #0 created", "flow flush 0", error)).toEqual(["port 0 flow 0"]);
  });
});

describe("commands behind anything", () => {
  test.each(["rule-0: ", "testpmd> ", "step 1: run ", 'echo "', "kubectl exec pod -- "])("%s", (before) => {
    const { scenario, findings } = of(`${before}${flow(1)}${before.endsWith('"') ? '"' : ""}`);
    expect(findings).toEqual([]);
    expect(scenario?.rules).toHaveLength(1);
  });
});

describe("settings", () => {
  const SET = [
    "set vxlan ip-version ipv4 vni 4 udp-src 4 udp-dst 4789",
    "        ip-src 10.0.0.1 ip-dst 10.0.0.2",
    "        eth-src 11:11:11:11:11:11 eth-dst 22:22:22:22:22:22",
  ];
  const ENCAP = "flow create 0 egress pattern eth / end actions vxlan_encap / end";

  test("set vxlan over several lines, as DPDK's guide prints it", () => {
    const { scenario, findings } = of(...SET, ENCAP);
    expect(findings).toEqual([]);
    expect(JSON.stringify(scenario?.rules)).toContain("222222222222111111111111");
  });

  test.each<[string, string, string]>([
    ["set vxlan ip-version ipv4 vni 4 udp-src 4 udp-dst x", ENCAP, 'the "set vxlan" before it is not imported'],
    [
      "set raw_encap 0 eth src is 02:00:00:00:00:01 / wrong / end_set",
      "flow create 0 egress pattern eth / end actions raw_encap index 0 / end",
      'there is no "set raw_encap 0" before this',
    ],
    [
      "set sample_actions 0 wrong / end",
      "flow create 0 ingress group 1 pattern eth / end actions sample ratio 2 index 0 / jump group 2 / end",
      'there is no "set sample_actions 0" before this',
    ],
  ])("%s, refused: rules after it do not have what was set before", (wrong, rule, reason) => {
    const good = wrong.replace(
      "dst x",
      "dst 1 ip-src 1.1.1.1 ip-dst 1.1.1.2 eth-src 02:00:00:00:00:01 eth-dst 02:00:00:00:00:02",
    );
    const right = good.replace("wrong", good.includes("raw") ? "ipv4" : "queue index 0");
    const { findings, scenario } = of(right, wrong, rule);
    expect(findings.map((finding) => finding.reason)).toContain(reason);
    for (const one of scenario?.rules ?? []) expect(one.notImported).toBeDefined();
  });
});

describe("items", () => {
  const match = (pattern: string) => of(`flow create 0 ingress pattern ${pattern} / end actions drop / end`);

  test("tci, vid and pcp of a VLAN tag are one field, of which the VID is compared", () => {
    const asked = (pattern: string) => match(pattern).scenario?.rules?.[0]?.match;
    expect(asked("eth / vlan vid spec 123")).toEqual({ "outer.first_vid": 123 });
    expect(asked("eth / vlan tci spec 0x607b")).toEqual({ "outer.first_vid": 123 });
    expect(asked("eth / vlan pcp spec 3 vid spec 123")).toEqual({ "outer.first_vid": 123 });
    expect(asked("eth / vlan tci spec 0x607b tci mask 0xe000")).toEqual({
      "outer.first_prio": 3,
      "outer.first_vid": "any",
    });
    expect(asked("eth / vlan pcp is 3")).toEqual({ "outer.first_prio": 3, "outer.first_vid": "any" });
    expect(asked("eth / vlan tci spec 0x607b vid mask 0xfff")).toEqual({ "outer.first_vid": 123 });
    expect(asked("eth / vlan pcp is 3 vid is 5")).toEqual({ "outer.first_prio": 3, "outer.first_vid": 5 });
  });

  test("items of DPDK 23", () => {
    const asked = (pattern: string) => match(pattern).scenario?.rules?.[0]?.match;
    expect(asked("eth / ipv4 / udp dst is 4791 / ib_bth opcode is 0x81 dst_qp is 7")).toEqual({
      "outer.ip_version": 4,
      "outer.udp_dport": 4791,
      "misc.bth_opcode": 0x81,
      "misc.bth_dst_qp": 7,
    });
    expect(asked("eth / ipv6 / icmp6_echo_request ident is 1 seq is 2")).toMatchObject({
      "misc3.icmpv6_type": 128,
      "misc3.icmpv6_header_data": 0x10002,
    });
    expect(match("eth / random value is 1").findings.at(-1)?.reason).toBe("every match of the device is of the frame");
  });

  test.each(["value spec 0 value mask 1", "value mask 1 value spec 0", "value spec 0x8 value mask 0x88", "value is 1"])(
    "integrity %s: a bit that the device has no result for",
    (text) => {
      const { scenario, findings } = match(`eth / integrity ${text}`);
      expect(scenario?.rules).toBeUndefined();
      expect(findings.at(-1)?.reason).toMatch(/^the device has no result for bit [07]$/);
    },
  );
});

describe("a command that testpmd refused", () => {
  const FAILED = "port_flow_complain(): Caught PMD error type 1 (cause unspecified): Operation not supported";
  const odd = "flow create 0 ingress pattern eth / raw / end actions drop / end";
  const rules = (...lines: readonly string[]) =>
    importRules(lines.join("\n"), { format: "testpmd" }).scenario?.rules?.map(({ name }) => name);

  test("has nothing that is not imported", () => {
    const { findings } = importRules([odd, FAILED, flow(1)].join("\n"), { format: "testpmd" });
    expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
    const { findings: taken } = importRules([odd, flow(1)].join("\n"), { format: "testpmd", lenient: true });
    expect(taken.filter(({ severity }) => severity === "refused").map(({ text }) => text)).toEqual(["raw"]);
  });

  test("flow isolate", () => {
    const own = "driver: port 0 receives";
    expect(rules("flow isolate 0 on", flow(1))).not.toContain(own);
    expect(rules("flow isolate 0 on", FAILED, flow(1))).toContain(own);
    expect(rules("flow isolate 0 on", "flow isolate 0 off", FAILED, flow(1))).not.toContain(own);
  });
});
