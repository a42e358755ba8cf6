/** Frames that a rule took which takes what others leave: the nearest of the others, and what would help. */
import { describe, expect, test } from "vitest";
import { ExplanationGroups } from "../../../src/explain/groups/groups.js";
import { openExplainer, why, type Explanation } from "../../../src/explain/index.js";
import { importRules } from "../../../src/import/index.js";
import { buildFrame, parsePacket } from "../../../src/packet/index.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";

const frame = (text: string): Uint8Array => buildFrame(parsePacket(text).layers);

async function load(text: string): Promise<LoadedScenario> {
  const { scenario, findings } = importRules(text);
  if (scenario === null) throw new Error(JSON.stringify(findings));
  return loadScenario(scenario);
}

async function dropped(text: string, packet: string): Promise<Explanation> {
  return why((await load(text)).device, 1, frame(packet), { kind: "end" });
}

const OVS = `table=0,priority=50,in_port=1,tcp,nw_dst=10.0.0.7,tp_dst=443,actions=output:2
table=0,priority=40,in_port=1,udp,nw_dst=10.0.0.9,tp_dst=53,actions=output:2
table=0,priority=30,in_port=1,tcp,nw_dst=10.0.0.7,tp_dst=8443,actions=drop`;
const WEB = "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 8442";

describe("a drop for what others leave", () => {
  test.each([
    ["all frames", `${OVS}\ntable=0,priority=0,actions=drop`],
    ["all frames of a port", `${OVS}\ntable=0,priority=0,in_port=1,actions=drop`],
    ["all of a protocol, as the last", `${OVS}\ntable=0,priority=1,ip,actions=drop`],
  ])("%s: the nearest that does not drop, with repairs", async (_, text) => {
    const { reached, sentence, reasons, repairs } = await dropped(text, WEB);
    expect(reached).toBe(false);
    expect(sentence).toMatch(/ drops the frame; nearest: rule "[^"]*priority=50[^"]*" does not match: outer.tcp_dport/);
    const [lost, near] = reasons;
    expect(lost).toMatchObject({ kind: "lost", reason: "drop_action" });
    expect(near).toMatchObject({
      kind: "no match",
      differences: [{ field: "outer.tcp_dport", wanted: "443", found: "8442" }],
    });
    expect(repairs.map(({ of, fields }) => [of, fields[0]?.field, fields[0]?.after])).toEqual([
      ["frame", "outer.tcp_dport", "443"],
      ["rule", "outer.tcp_dport", "8442"],
    ]);
  });

  test("of another table, which frames reach because no rule of the first takes them", async () => {
    const text = `table=0,priority=5,in_port=1,tcp,tp_dst=80,actions=output:2
table=0,priority=0,actions=resubmit(,1)
table=1,priority=5,in_port=1,tcp,nw_dst=10.0.0.9,tp_dst=443,actions=output:2
table=1,priority=0,actions=drop`;
    expect((await dropped(text, "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 81")).sentence).toContain(
      'nearest: rule "table=0,priority=5',
    );
  });

  test("an explicit drop is the whole answer", async () => {
    const { sentence, reasons } = await dropped(
      `${OVS}\ntable=0,priority=0,actions=drop`,
      "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 8443",
    );
    expect(sentence).toMatch(/priority=30[^"]*" drops the frame$/);
    expect(reasons.map(({ kind }) => kind)).toEqual(["lost"]);
  });

  test("where only drops are near, none is named", async () => {
    const text = "table=0,priority=9,tcp,tp_dst=80,actions=drop\ntable=0,priority=0,actions=drop";
    expect((await dropped(text, "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 81")).sentence).toMatch(/drops the frame$/);
  });

  test("after a meter: no repair lets red frames pass", async () => {
    const text = `ovs-ofctl -O OpenFlow13 add-meter br0 meter=1,kbps,burst,band=type=drop,rate=1,burst_size=1
ovs-ofctl -O OpenFlow13 add-flow br0 "priority=9,in_port=1,udp,actions=meter:1,output:2"
ovs-ofctl -O OpenFlow13 add-flow br0 "priority=0,actions=drop"`;
    const { device } = await load(text);
    const bytes = frame("ipv4 10.0.0.1 > 10.0.0.7 / udp 5 > 53");
    for (let n = 0; n < 9; n++) device.receive(1, bytes, { time: 0n });
    const { reached, repairs, reasons } = await why(device, 1, bytes, { kind: "end" }, { time: 0n });
    expect({ reached, repairs }).toEqual({ reached: false, repairs: [] });
    expect(reasons.map(({ kind }) => kind)).toEqual(["lost", "state"]);
  });

  test("of what a meter coloured: its state is named, and no repair weakens it", async () => {
    const { device } = await loadScenario({
      flowsteer: 1,
      queues: [{ name: "q" }],
      asoObjects: [{ name: "m", flow_meter: { cir: 1, cbs: 64 } }],
      tables: [
        { name: "root", level: 0 },
        { name: "coloured", level: 1 },
      ],
      rules: [
        {
          name: "meter",
          table: "root",
          actions: [{ aso: { object: "m", flags: "flow_meter_green", return_reg_c: 1 } }, { table: "coloured" }],
        },
        {
          name: "green",
          table: "coloured",
          match: { "misc2.metadata_reg_c_1": "2/0xff" },
          actions: [{ queue: "q" }],
        },
        { name: "others", table: "coloured", priority: 1, actions: ["drop"] },
      ],
    });
    const bytes = frame("ipv4 10.0.0.1 > 10.0.0.7 / udp 5 > 53");
    for (let n = 0; n < 9; n++) device.receive(1, bytes, { time: 0n });
    const { sentence, repairs } = await why(device, 1, bytes, { kind: "end" }, { time: 0n });
    expect(sentence).toContain('rule "others" drops the frame; nearest: rule "green" does not match');
    expect(sentence).toContain("coloured the frame red");
    expect(repairs).toEqual([]);
  });
});

describe("the kernel, for what others leave", () => {
  const TC = "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp dst_port 80 action";

  test("got the frame, and the nearest rule is named", async () => {
    const { reached, sentence, reasons, repairs } = await dropped(
      `${TC} drop`,
      "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 81",
    );
    expect(reached).toBe(true);
    expect(sentence).toContain(
      'no rule took the frame but the driver\'s own: host:0 received it by host rule "driver: PF receives"; nearest: rule "eth0 prio 1" does not match: outer.tcp_dport is 81, not 80',
    );
    expect(reasons[0]?.kind).toBe("no match");
    expect(repairs.some(({ fields }) => fields[0]?.after === "80")).toBe(true);
  });

  test("a rule for all frames that passes them to it took the frame, and the nearest rule is named", async () => {
    const all = "tc filter add dev eth0 ingress protocol all pref 9 matchall action pass";
    const { sentence } = await dropped(`${TC} drop\n${all}`, "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 81");
    expect(sentence).toContain(
      'host:0 got the frame by rule "eth0 prio 9"; nearest: rule "eth0 prio 1" does not match',
    );
  });

  test("a rule that passes frames to it took the frame", async () => {
    const { sentence } = await dropped(`${TC} pass`, "ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 80");
    expect(sentence).toBe('host:0 got the frame by rule "eth0 prio 1"');
  });
});

test("groups: dropped frames by the fields in which they fail the nearest rule", async () => {
  const loaded = await load(`${OVS}\ntable=0,priority=0,actions=drop`);
  const { device } = loaded;
  const groups = await ExplanationGroups.open(device);
  const explainer = await openExplainer(device);
  const lost = Array.from({ length: 400 }, (_, n) => {
    const bytes = frame(`ipv4 10.0.0.1 > 10.0.0.${n % 2 === 0 ? 7 : 8} / tcp 5 > ${n % 2 === 0 ? 1000 + n : 443}`);
    const outcome = device.receive(1, bytes);
    return { number: n + 1, bytes, linkType: 1, wireLength: bytes.length, outcome };
  });
  await groups.add(lost, ({ bytes }) => explainer.why(1, bytes, { kind: "end" }));
  const found = groups.groups.map(({ frames, explanation }) => {
    const near = explanation?.reasons.find(({ kind }) => kind === "no match");
    return [frames, near?.kind === "no match" ? near.differences.map(({ field }) => field).join() : ""];
  });
  expect(found).toEqual([
    [200, "outer.tcp_dport"],
    [200, "outer.ipv4_dst"],
  ]);
});
