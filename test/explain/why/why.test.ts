/** Each kind of reason, on real devices. */
import { describe, expect, it } from "vitest";
import { createDevice, createSink, type Device, type DeviceOptions } from "../../../src/index.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import * as ib from "../../../src/verbs/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { nearest, openExplainer, why, whySend, type Explainer } from "../../../src/explain/index.js";
import type { Explanation } from "../../../src/explain/why/explanation.js";
import { printExplanation, printNearest } from "../../../src/explain/why/print.js";

type Fields = Parameters<typeof dv.matchParameters>[0];
type Actions = Parameters<typeof dv.mlx5dv_dr_rule_create>[3];
type Table = ReturnType<typeof dv.mlx5dv_dr_table_create>;
type Context = ReturnType<typeof ib.ibv_open_device>;

const RX = dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
const FDB = dv.MLX5DV_DR_DOMAIN_TYPE_FDB;
const TX = dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
const { mlx5dv_dr_action_create_dest_table: toTable, mlx5dv_dr_action_create_dest_ibv_qp: toQueue } = dv;

async function open(options: DeviceOptions = {}): Promise<{ device: Device; context: Context; explainer: Explainer }> {
  const device = await createDevice(options);
  return { device, context: ib.ibv_open_device(device), explainer: await openExplainer(device) };
}

function tables(context: Context, type: number, levels: number): Table[] {
  const domain = dv.mlx5dv_dr_domain_create(context, type);
  return Array.from({ length: levels }, (_, level) => dv.mlx5dv_dr_table_create(domain, level));
}

function rule(
  table: Table,
  fields: Fields,
  actions: Actions,
  priority = 0,
): ReturnType<typeof dv.mlx5dv_dr_rule_create> {
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields, { root: table.level === 0 });
  const matcher = dv.mlx5dv_dr_matcher_create(table, priority, match_criteria_enable, mask);
  return dv.mlx5dv_dr_rule_create(matcher, value, actions.length, actions);
}

function frameOf(...rest: readonly Layer[]): Uint8Array {
  return buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7" },
    ...rest,
  ]);
}

const tcp = (destination_port: number): Uint8Array => frameOf({ header: "tcp", source_port: 40000, destination_port });
const kinds = ({ reasons }: Explanation): string[] => reasons.map(({ kind }) => kind);
const all = (context: Context, name: string, port = 1): ReturnType<typeof createSink> => {
  const queue = createSink(context, name, port);
  ib.ibv_create_flow(queue, { type: ib.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  return queue;
};

describe("a rule of a table that the frame visited", () => {
  it("does not match", async () => {
    const { context, explainer } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    const web = rule(root, { "outer.ip_protocol": 6, "outer.tcp_dport": 443 }, [toQueue(createSink(context, "web"))]);
    const found = explainer.why(1, tcp(80), web);
    expect(found).toMatchObject({ reached: false, target: { kind: "rule", name: web.name } });
    expect(found.sentence).toBe(`rule "${web.name}" does not match: outer.tcp_dport is 80, not 443`);
    expect(found.reasons).toEqual([
      expect.objectContaining({
        kind: "no match",
        differences: [expect.objectContaining({ field: "outer.tcp_dport" })],
      }),
    ]);
    const udp = explainer.why(1, frameOf({ header: "udp", destination_port: 443 }), web);
    expect(udp.sentence).toContain("outer.ip_protocol is udp, not tcp");
    expect(structuredClone(found)).toEqual(JSON.parse(JSON.stringify(found)));
  });

  it("comes after an earlier rule, by each part of its rank", async () => {
    const { context, explainer } = await open();
    const [root, next] = tables(context, RX, 2) as [Table, Table];
    const queue = createSink(context, "web");
    const first = rule(root, { "outer.ip_protocol": 6 }, [toTable(next)]);
    const late = rule(root, { "outer.tcp_dport": 443 }, [toQueue(queue)], 1);
    expect(explainer.why(1, tcp(443), late).sentence).toBe(
      `rule "${first.name}" took the frame first, by its lower priority number (0 before 1); rule "${late.name}" would match too`,
    );
    const old = rule(next, { "outer.tcp_dport": 443 }, [toQueue(queue)]);
    const newer = rule(next, { "outer.tcp_sport": 40000 }, [toQueue(queue)]);
    const found = explainer.why(1, tcp(443), old);
    expect(found.reasons[0]).toMatchObject({ kind: "earlier rule", by: { name: newer.name }, wouldMatch: true });
    expect(found.sentence).toContain("at the same priority 0 by its newer matcher");
    const twin = dv.mlx5dv_dr_rule_create(newer.matcher, dv.matchParameters({ "outer.tcp_sport": 40000 }).value, 1, [
      toQueue(queue),
    ]);
    expect(explainer.why(1, tcp(443), twin).sentence).toContain("it is the older rule of the same matcher");
  });

  it("matched the frame before a change", async () => {
    const { context, explainer } = await open();
    const [root, next] = tables(context, RX, 2) as [Table, Table];
    const change = dv.mlx5dv_dr_action_create_modify_header(
      root.domain,
      dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
      undefined,
      [{ type: "set", field: "OUT_TCP_DPORT", data: 8443 }],
    );
    const nat = rule(root, { "outer.tcp_dport": 443 }, [change, toTable(next)]);
    const web = rule(next, { "outer.tcp_dport": 443 }, [toQueue(createSink(context, "web"))]);
    const found = explainer.why(1, tcp(443), web);
    expect(kinds(found)).toEqual(["no match", "changed on the way"]);
    expect(found.reasons[1]).toMatchObject({
      field: "outer.tcp_dport",
      rule: { name: nat.name },
      action: "modify",
      before: "443",
      after: "8443",
    });
  });

  it("matches a register that no rule wrote", async () => {
    const { context, explainer } = await open();
    const [root, next] = tables(context, RX, 2) as [Table, Table];
    rule(root, {}, [toTable(next)]);
    const web = rule(next, { "misc2.metadata_reg_c_2": 7 }, [toQueue(createSink(context, "web"))]);
    expect(explainer.why(1, tcp(443), web).sentence).toBe(
      `rule "${web.name}" does not match: misc2.metadata_reg_c_2 is 0, not 7 (no rule wrote register C2 before)`,
    );
  });

  it("was hit, and the frame was lost afterwards", async () => {
    const { context, explainer } = await open();
    const [root, next] = tables(context, RX, 2) as [Table, Table];
    const first = rule(root, {}, [toTable(next)]);
    const drop = rule(next, { "outer.tcp_dport": 443 }, [dv.mlx5dv_dr_action_create_drop()]);
    const found = explainer.why(1, tcp(443), first);
    expect(found).toMatchObject({ reached: true, reasons: [{ kind: "lost", reason: "drop_action" }] });
    expect(found.sentence).toContain(`rule "${drop.name}" drops the frame`);
    expect(explainer.why(1, tcp(80), first).reasons[0]).toMatchObject({ kind: "lost", reason: "table_miss" });
  });

  it("waits for a sync", async () => {
    const { context, explainer } = await open({ asyncRules: true });
    const [, next] = tables(context, RX, 2) as [Table, Table];
    const web = rule(next, { "outer.tcp_dport": 443 }, [toQueue(createSink(context, "web"))]);
    expect(explainer.why(1, tcp(443), web).sentence).toContain("waits for mlx5dv_dr_domain_sync");
  });
});

describe("a table that the frame never reached", () => {
  it("is reached by rules that the frame did not take, back to where it came in", async () => {
    const { context, explainer } = await open();
    const [root, one, two] = tables(context, RX, 3) as [Table, Table, Table];
    const first = rule(root, { "outer.ipv4_dst": "10.0.0.8" }, [toTable(one)]);
    const second = rule(one, { "outer.tcp_dport": 443 }, [toTable(two)]);
    const found = explainer.why(1, tcp(443), two);
    expect(kinds(found)).toEqual(["not reached", "not reached", "no match"]);
    expect(found.reasons[0]).toMatchObject({ table: { table: two.name }, leading: [{ name: second.name }] });
    expect(found.reasons[1]).toMatchObject({ table: { table: one.name }, leading: [{ name: first.name }] });
    expect(found.reasons[2]).toMatchObject({ rule: { name: first.name } });
  });

  it("has no rule that leads there, or a circle of tables only", async () => {
    const { context, explainer } = await open();
    const [, one, two] = tables(context, RX, 3) as [Table, Table, Table];
    expect(explainer.why(1, tcp(443), one).sentence).toBe(
      `no rule leads to table "${one.name}", so the frame never reached it`,
    );
    rule(one, {}, [toTable(two)]);
    rule(two, {}, [toTable(one)]);
    expect(explainer.why(1, tcp(443), one).reasons.length).toBeGreaterThan(0);
  });

  it("has frames that no rule before takes: default flows, host rules", async () => {
    const { device, context, explainer } = await open();
    const rest = createSink(context, "rest");
    const flow = ib.ibv_create_flow(rest, { type: ib.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    const host = device.hostRules.add({
      application: "ethtool",
      match: { "outer.tcp_dport": 443 },
      action: { queue: 3 },
    });
    expect(explainer.why(1, tcp(443), flow).reasons[0]).toMatchObject({
      kind: "other domain",
      took: { name: host.name },
    });
    expect(explainer.why(1, tcp(80), host).reasons[0]).toMatchObject({ kind: "no match" });
    expect(explainer.why(1, tcp(443), host)).toMatchObject({ reached: true });
  });

  it("is of another domain or function", async () => {
    const { device, context, explainer } = await open({ vports: 2 });
    const vf = ib.ibv_open_device(device.function(1));
    const [sent] = tables(context, TX, 1) as [Table];
    const out = rule(sent, {}, [dv.mlx5dv_dr_action_create_drop()]);
    expect(explainer.why(1, tcp(443), out).sentence).toContain(
      "NIC_TX of the PF sees only frames that its own queue pairs send",
    );
    const flow = ib.ibv_create_flow(createSink(vf, "vm"), { type: ib.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    expect(explainer.why(1, tcp(443), flow).sentence).toContain("no rule of the FDB sends frames to VF 1");
    const [root] = tables(context, FDB, 1) as [Table];
    const toVm = rule(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_vport(root.domain, 1)]);
    expect(explainer.why(1, tcp(443), 1).reasons[0]).toMatchObject({ kind: "no match", rule: { name: toVm.name } });
    expect(explainer.why(1, tcp(80), flow)).toMatchObject({ reached: true });
    const pf = ib.ibv_create_flow(createSink(context, "pf"), {
      type: ib.IBV_FLOW_ATTR_ALL_DEFAULT,
      port: 1,
      specs: [],
    });
    expect(explainer.why(1, tcp(80), pf).sentence).toContain(
      `rule "${toVm.name}" of the root table of the FDB took the frame and gave it to VF 1`,
    );
  });
});

describe("a queue", () => {
  it("is delivered to by a rule that the frame did not take", async () => {
    const { context, explainer } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    const web = createSink(context, "web");
    rule(root, { "outer.tcp_dport": 443 }, [toQueue(web)]);
    expect(explainer.why(1, tcp(443), web)).toMatchObject({ reached: true, sentence: "qp:web got the frame" });
    expect(explainer.why(1, tcp(80), web).reasons).toMatchObject([{ kind: "no match" }]);
    expect(explainer.why(1, tcp(80), { kind: "queue", name: "web" }).sentence).toContain("delivers to qp:web");
    expect(explainer.why(1, tcp(80), createSink(context, "alone")).sentence).toContain("no rule delivers to qp:alone");
  });

  it("is not ready", async () => {
    const { context, explainer } = await open();
    const pd = ib.ibv_alloc_pd(context);
    const cq = ib.ibv_create_cq(context, 4, null, null, 0);
    const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1 };
    const qp = ib.ibv_create_qp(pd, { qp_type: ib.IBV_QPT_RAW_PACKET, send_cq: cq, recv_cq: cq, cap });
    const [root] = tables(context, RX, 1) as [Table];
    rule(root, {}, [toQueue(qp)]);
    const found = explainer.why(1, tcp(443), qp);
    expect(found.reasons).toMatchObject([{ kind: "lost", reason: "queue_not_ready" }]);
    expect(found.sentence).toContain("does not receive in the state RESET");
  });
});

describe("an end", () => {
  it("names the nearest rules of a miss", async () => {
    const { context, explainer } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    const queue = createSink(context, "web");
    rule(root, { "outer.tcp_dport": 80, "outer.ipv4_dst": "10.0.0.8", "outer.ip_version": 4 }, [toQueue(queue)]);
    const near = rule(root, { "outer.tcp_dport": 442 }, [toQueue(queue)]);
    const found = explainer.why(1, tcp(443), "dropped");
    expect(found.reasons[0]).toMatchObject({ kind: "lost", verdict: "miss", reason: "no_rule" });
    expect(found.reasons[1]).toMatchObject({ kind: "no match", rule: { name: near.name } });
    expect(found.sentence).toContain("the PF has no default flow");
  });

  it("says what coloured a frame that a rule drops", async () => {
    const { context, explainer } = await open();
    const [root, next] = tables(context, RX, 2) as [Table, Table];
    const parameters = new Uint8Array(32);
    const meter = dv.mlx5dv_dr_action_create_flow_meter({
      next_table: next,
      active: 0,
      reg_c_index: 0,
      flow_meter_parameter: parameters,
    });
    rule(root, {}, [meter]);
    const drop = rule(next, { "misc2.metadata_reg_c_0": "0x0/0xff" }, [dv.mlx5dv_dr_action_create_drop()]);
    const found = explainer.why(1, tcp(443), { kind: "end" });
    expect(kinds(found)).toEqual(["lost", "state"]);
    expect(found.reasons[1]?.sentence).toContain(
      `coloured the frame red: it has the start colour red, and gets no better one; rule "${drop.name}" takes red frames`,
    );
  });

  it("says why a frame was not delivered twice", async () => {
    const { context, explainer } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    rule(root, { "outer.tcp_dport": 443 }, [toQueue(createSink(context, "web"))]);
    const audit = rule(root, {}, [toQueue(createSink(context, "audit"))], 1);
    const found = explainer.why(1, tcp(443), "not delivered twice");
    expect(found.sentence).toContain("delivered once, to qp:web");
    expect(found.reasons).toMatchObject([{ kind: "earlier rule", rule: { name: audit.name } }]);
  });

  it("names the queue that refused the second copy", async () => {
    const { context, explainer } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    const pd = ib.ibv_alloc_pd(context);
    const cq = ib.ibv_create_cq(context, 8);
    const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1 };
    const deaf = ib.ibv_create_qp(pd, { qp_type: ib.IBV_QPT_RAW_PACKET, send_cq: cq, recv_cq: cq, cap });
    const both = dv.mlx5dv_dr_action_create_dest_array(
      root.domain,
      2,
      [createSink(context, "web"), deaf].map((queue) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest: toQueue(queue) })),
    );
    rule(root, {}, [both]);
    const found = explainer.why(1, tcp(443), "not delivered twice");
    expect(found.sentence).toMatch(
      /^the frame was delivered once, to qp:web: qp:\S+ refused its copy \(queue not ready\)$/,
    );
  });
});

describe("frames that queue pairs send", () => {
  it("are looped back to rules of others, and not to flows of their own queue pair", async () => {
    const { device, context } = await open();
    const web = createSink(context, "web");
    const flow = ib.ibv_create_flow(web, { type: ib.IBV_FLOW_ATTR_NORMAL, port: 1, specs: [] });
    const found = await whySend(device, web, tcp(443), flow);
    expect(found).toMatchObject({ reached: false, reasons: [{ kind: "other domain" }] });
    expect(found.sentence).toContain("ALLOW_LOOP_BACK");
    expect(await whySend(device, createSink(context, "other"), tcp(443), flow)).toMatchObject({ reached: true });
  });
});

describe("targets", () => {
  it("are found by name, and refused where nothing has the name", async () => {
    const { device, context, explainer } = await open();
    all(context, "rest");
    expect(explainer.why(1, tcp(443), { kind: "flow", name: "flow0" })).toMatchObject({ reached: true });
    expect(() => explainer.why(1, tcp(443), { kind: "rule", name: "wob" })).toThrow(/why: target = "wob".*EINVAL/);
    expect(() => explainer.why(1, tcp(443), { kind: "queue", name: "rest2" })).toThrow(/did you mean/);
    expect(() => explainer.why(1, tcp(443), 7)).toThrow(/EINVAL/);
    expect(() => explainer.why(1, tcp(443), {} as never)).toThrow(TypeError);
    const other = await createDevice({ name: "other" });
    const elsewhere = all(ib.ibv_open_device(other), "elsewhere");
    expect(() => explainer.why(1, tcp(443), elsewhere)).toThrow(/EINVAL/);
    await expect(why(device, 9, tcp(443), "dropped")).rejects.toThrow(/EINVAL/);
  });

  it("leave the device as it was", async () => {
    const { device, context, explainer } = await open();
    all(context, "rest");
    const arena = (): Uint8Array => device.core.u8.subarray(device.core.arena, device.core.exports.arenaTop() >>> 0);
    const before = arena().slice();
    explainer.why(1, tcp(443), "dropped");
    explainer.nearest(1, tcp(443), 3);
    expect(arena().findIndex((byte, i) => byte !== before[i])).toBe(-1);
    expect(arena()).toHaveLength(before.length);
  });
});

describe("nearest rules", () => {
  it("are in the order of failing fields, then of fields that agree, then of bits", async () => {
    const { device, context } = await open();
    const [root] = tables(context, RX, 1) as [Table];
    const queue = createSink(context, "web");
    const two = rule(root, { "outer.tcp_dport": 442, "outer.tcp_sport": 40001 }, [toQueue(queue)]);
    const far = rule(root, { "outer.tcp_dport": 0x0e44 }, [toQueue(queue)]);
    const near = rule(root, { "outer.tcp_dport": 442 }, [toQueue(queue)]);
    const agreeing = rule(root, { "outer.tcp_dport": 0x0e44, "outer.ip_version": 4 }, [toQueue(queue)]);
    const found = await nearest(device, 1, tcp(443), 4);
    expect(found.map(({ rule: { name } }) => name)).toEqual([agreeing.name, near.name, far.name, two.name]);
    expect(await nearest(device, 1, tcp(443), 1)).toHaveLength(1);
    expect(printNearest(found.slice(1, 2))).toBe(
      [
        `rule "${near.name}" of table root`,
        "    outer.tcp_dport  expected 442  0000000110111010",
        "                     found    443  0000000110111011",
        "                                                  ^",
      ].join("\n"),
    );
  });
});

describe("text", () => {
  const difference = {
    field: "outer.ipv4_dst",
    bits: `.......1${".".repeat(24)}`,
    distance: 1,
    absent: null,
    note: null,
  };
  const explanation: Explanation = {
    target: { kind: "rule", name: "web" },
    reached: false,
    sentence: 'rule "web" does not match: outer.ipv4_dst is 10.0.0.7, not 11.0.0.0/8',
    reasons: [
      {
        kind: "no match",
        sentence: 'rule "web" does not match: outer.ipv4_dst is 10.0.0.7, not 11.0.0.0/8',
        rule: { kind: "rule", name: "web", id: 0, priority: 0, matcher: "m" },
        table: { domain: "nic_rx", vport: 0, table: "root" },
        differences: [{ ...difference, wanted: "11.0.0.0/8", found: "10.0.0.7" }],
      },
    ],
    mistake: null,
    repairs: [],
  };

  it("marks differing parts by carets, or underlines them", () => {
    expect(printExplanation(explanation).split("\n")).toEqual([
      'rule "web" does not match: outer.ipv4_dst is 10.0.0.7, not 11.0.0.0/8',
      "     outer.ipv4_dst  expected 11.0.0.0/8",
      "                     found    10.0.0.7",
      "                              ^^",
    ]);
    expect(printExplanation(explanation, { colour: true })).toContain("found    \u001b[4m10\u001b[24m.0.0.7");
  });

  it("keeps to its width", () => {
    for (const width of [40, 80]) {
      for (const line of printExplanation(explanation, { width }).split("\n"))
        expect(line.length).toBeLessThanOrEqual(width);
    }
  });
});
