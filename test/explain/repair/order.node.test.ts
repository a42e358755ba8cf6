/** Mistakes that need more than one rule, or objects of a device: recognized with the mistake, and not without it. */
import { describe, expect, it } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame, type HeaderLayer } from "../../../src/packet/index.js";
import * as ib from "../../../src/verbs/index.js";
import { why } from "../../../src/explain/index.js";
import type { Explanation, Target } from "../../../src/explain/why/explanation.js";
import { hexOf } from "../../../src/base/hex.js";

const packet = (destination: string, ...layers: HeaderLayer[]): Uint8Array =>
  buildFrame([{ header: "ethernet" }, { header: "ipv4", destination }, ...layers]);
const tcp = (destination_port: number): HeaderLayer => ({ header: "tcp", destination_port });
const web = packet("10.0.0.7", tcp(80));

/** The names of the rules and queues that a frame comes to. */
function arrived(device: Device, frame: Uint8Array): string[] {
  const outcome = device.receive(1, frame);
  return [...outcome.rules, ...outcome.to].map(({ name }) => name);
}

describe("match_criteria_enable that leaves out a masked group", () => {
  const parameters = (fields: Parameters<typeof dv.matchParameters>[0]) => dv.matchParameters(fields, { root: true });

  async function direct(criteria: number): Promise<{ device: Device; explanation: Explanation }> {
    const device = await createDevice();
    const context = ib.ibv_open_device(device);
    const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
    for (const [vni, priority] of [[5001, 0] as const, [5002, 1] as const]) {
      const { mask, value } = parameters({ "outer.ip_protocol": 17, "misc.vxlan_vni": vni });
      const matcher = dv.mlx5dv_dr_matcher_create(root, priority, criteria, mask);
      const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, `vni ${vni}`));
      // The value has only what the matcher takes.
      dv.mlx5dv_dr_rule_create(matcher, value, 1, [queue]);
    }
    const frame = packet("10.0.0.7", { header: "udp" }, { header: "vxlan", vni: 5002 }, { header: "ethernet" });
    const explanation = await why(device, 1, frame, { kind: "queue", name: "vni 5002" });
    return { device, explanation };
  }

  it("is recognized, and the group is what corrects it", async () => {
    const { explanation } = await direct(1);
    expect(explanation.mistake).toMatchObject({ name: "criteria-leave-out-group" });
    expect(explanation.mistake?.sentence).toContain("misc.vxlan_vni");
    expect(explanation.mistake?.sentence).toContain("Set match_criteria_enable to 0x3.");
    expect(explanation.repairs[0]).toMatchObject({
      of: "rule",
      fields: [{ field: "misc.vxlan_vni", before: null, after: "5001" }],
    });
  });

  it("is not recognized without it", async () => {
    const { explanation } = await direct(3);
    expect(explanation).toMatchObject({ reached: true, mistake: null });
  });

  it("is recognized in flow matchers", async () => {
    const device = await createDevice();
    const context = ib.ibv_open_device(device);
    const flow = (port: number, priority: number, name: string): void => {
      const { mask, value } = parameters({ "outer.ip_protocol": 17, "misc.vxlan_vni": port });
      const matcher = dv.mlx5dv_create_flow_matcher(context, { priority, match_criteria_enable: 1, match_mask: mask });
      dv.mlx5dv_create_flow(matcher, value, 1, [
        { type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: createSink(context, name) },
      ]);
    };
    flow(7, 0, "first");
    flow(8, 1, "second");
    const frame = packet("10.0.0.7", { header: "udp" }, { header: "vxlan", vni: 8 }, { header: "ethernet" });
    const { mistake } = await why(device, 1, frame, { kind: "queue", name: "second" });
    expect(mistake?.name).toBe("criteria-leave-out-group");
  });
});

describe("values of flows outside their masks", () => {
  async function explained(mask: object, val: object): Promise<Explanation> {
    const device = await createDevice();
    const context = ib.ibv_open_device(device);
    const flow = (name: string, priority: number, specs: object[]): void => {
      const attr = { type: ib.IBV_FLOW_ATTR_NORMAL, port: 1, priority, specs };
      ib.ibv_create_flow(createSink(context, name), attr as Parameters<typeof ib.ibv_create_flow>[1]);
    };
    flow("narrow", 0, [{ type: ib.IBV_FLOW_SPEC_IPV4, val, mask }]);
    flow("web", 1, [{ type: ib.IBV_FLOW_SPEC_TCP, val: { dst_port: 80 }, mask: { dst_port: 0xffff } }]);
    return why(device, 1, web, { kind: "queue", name: "web" });
  }

  it("are recognized where the mask is 0", async () => {
    const { mistake, repairs } = await explained({}, { dst_ip: "10.0.0.9" });
    expect(mistake).toMatchObject({ name: "value-outside-mask" });
    expect(mistake?.sentence).toContain("every value");
    expect(repairs[0]?.fields).toEqual([{ field: "outer.ipv4_dst", before: null, after: "10.0.0.9" }]);
  });

  it("are recognized behind a prefix", async () => {
    const { mistake, repairs } = await explained({ dst_ip: "255.255.255.0" }, { dst_ip: "10.0.0.9" });
    expect(mistake).toMatchObject({ name: "prefix-with-host-bits" });
    expect(mistake?.sentence).toContain("10.0.0.0/24");
    expect(repairs[0]?.fields).toEqual([{ field: "outer.ipv4_dst", before: "10.0.0.0/24", after: "10.0.0.9" }]);
  });

  it("are not recognized where the mask covers them", async () => {
    const { mistake } = await explained({ dst_ip: "255.255.255.0" }, { dst_ip: "10.0.0.0" });
    expect(mistake).toBeNull();
  });
});

interface Planted {
  readonly name: string;
  readonly says: string;
  readonly device?: object;
  readonly document: (mistaken: boolean) => object;
  readonly target: Target;
}

const queues = [{ name: "web" }, { name: "rest" }];
const root = { name: "root", level: 0 };
const rule = (name: string, match: object, action: unknown, priority = 0, table = "root"): object => ({
  name,
  table,
  priority,
  match,
  actions: [action].flat(),
});

const PLANTED: readonly Planted[] = [
  {
    name: "priority-reversed",
    says: '"rest"',
    document: (mistaken) => ({
      queues,
      tables: [root],
      rules: [
        rule("rest", {}, { queue: "rest" }, mistaken ? 1 : 20),
        rule("web", { "outer.tcp_dport": 80 }, { queue: "web" }, 10),
      ],
    }),
    target: { kind: "rule", name: "web" },
  },
  {
    name: "equal-priority",
    says: "the oldest wins",
    document: (mistaken) => ({
      queues,
      tables: [root],
      rules: [
        rule("rest", { "outer.ip_version": 4 }, { queue: "rest" }, 1),
        rule("web", { "outer.tcp_dport": 80 }, { queue: "web" }, mistaken ? 1 : 0),
      ],
    }),
    target: { kind: "rule", name: "web" },
  },
  {
    name: "tag-is-no-register",
    says: '"mark"',
    document: (mistaken) => ({
      queues,
      tables: [root, { name: "second", level: 1 }],
      rules: [
        rule("mark", {}, [
          mistaken ? { tag: 7 } : { modify: [{ set: "misc2.metadata_reg_c_1", to: 7 }] },
          { table: "second" },
        ]),
        rule("web", { "misc2.metadata_reg_c_1": 7 }, { queue: "web" }, 0, "second"),
      ],
    }),
    target: { kind: "rule", name: "web" },
  },
  {
    name: "other-vport",
    says: "VF 2",
    document: (mistaken) => ({
      device: { vports: 2 },
      tables: [{ name: "switch", level: 0, domain: "fdb" }],
      rules: [rule("to the VF", {}, { vport: mistaken ? 1 : 2 }, 0, "switch")],
    }),
    target: { kind: "vport", vport: 2 },
  },
  {
    name: "rule-not-synced",
    says: "mlx5dv_dr_domain_sync",
    document: (mistaken) => ({
      device: { asyncRules: true },
      domains: [{ domain: "nic_rx", sync: !mistaken }],
      queues,
      tables: [root, { name: "second", level: 1 }],
      rules: [rule("there", {}, { table: "second" }), rule("web", {}, { queue: "web" }, 0, "second")],
    }),
    target: { kind: "rule", name: "web" },
  },
];

describe.each(PLANTED)("$name", ({ name, says, document, target }) => {
  const explained = async (mistaken: boolean): Promise<Explanation> => {
    const loaded = await loadScenario({
      flowsteer: 1,
      ...document(mistaken),
      frames: [{ name: "web", hex: hexOf(web) }],
    });
    return why(loaded.device, 1, web, target);
  };

  it("is recognized", async () => {
    const { reached, mistake } = await explained(true);
    expect(reached).toBe(false);
    expect(mistake?.name).toBe(name);
    expect(mistake?.sentence).toContain(says);
  });

  it("is not recognized without it", async () => {
    const { reached, mistake } = await explained(false);
    expect(reached).toBe(true);
    expect(mistake?.name).not.toBe(name);
  });
});

it("offers the priority that lets the rule come first", async () => {
  const document = PLANTED[0]?.document(true) as { rules: { name: string; priority: number }[] };
  const loaded = await loadScenario({ flowsteer: 1, ...document });
  const { repairs } = await why(loaded.device, 1, web, { kind: "rule", name: "web" });
  const [first] = repairs;
  expect(first?.fields).toEqual([{ field: "priority", before: "10", after: "0" }]);
  const rules = document.rules.map((one) => (one.name === first?.rule ? { ...one, priority: 0 } : one));
  const corrected = await loadScenario({ flowsteer: 1, ...document, rules });
  expect(arrived(corrected.device, web)).toEqual(["web", "qp:web"]);
});
