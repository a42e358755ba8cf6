/** Recorded meters, samplers and ASO objects: the imported device treats frames as one on which the calls were made. */
import { expect, test } from "vitest";
import { hexOf } from "../../../src/base/hex.js";
import { importRules } from "../../../src/import/index.js";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { type ibv_open_device } from "../../../src/verbs/index.js";

const FRAME = buildFrame([
  { header: "ethernet" },
  { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7" },
  { header: "tcp", source_port: 1000, destination_port: 80, flags: 2 },
]);
const METER = {
  valid: 1,
  meter_mode: 3,
  start_color: 2,
  cbs_mantissa: 3,
  cbs_exponent: 7,
  cir_mantissa: 1,
  cir_exponent: 24,
};
const RED = 0;
const REGISTER = 1;
/** The mask of the low byte of register C1, in match parameters. */
const C1 = dv.matchParameters({ "misc2.metadata_reg_c_1": "0/0xff" });

/** The calls of a program whose second table has a stateful action, and whose third table drops what has the answer `value`. */
interface Program {
  readonly device: Device;
  readonly lines: readonly string[];
}

interface Stateful {
  /** Makes the action, and says which calls that took. */
  (tools: Tools): unknown;
}

interface Tools {
  readonly context: ReturnType<typeof ibv_open_device>;
  readonly domain: ReturnType<typeof dv.mlx5dv_dr_domain_create>;
  readonly tables: readonly ReturnType<typeof dv.mlx5dv_dr_table_create>[];
  readonly queue: unknown;
  readonly call: (name: string, values: Readonly<Record<string, unknown>>, returns: string | number) => void;
}

/** @param leads whether the stateful action itself leads to the third table */
async function program(stateful: Stateful, value: number, leads: boolean): Promise<Program> {
  const device = await createDevice({ seed: 3 });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const lines: string[] = [];
  const call: Tools["call"] = (name, values, returns) =>
    void lines.push(JSON.stringify({ call: name, ...values, returns }));
  const queue = createSink(context, "app");
  call("ibv_create_qp", { qp_num: 7 }, "0x10");
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  call("mlx5dv_dr_domain_create", { type: 0 }, "0x20");
  const tables = [0, 1, 2].map((level) => {
    call("mlx5dv_dr_table_create", { domain: "0x20", level }, `0x3${level}`);
    return dv.mlx5dv_dr_table_create(domain, level);
  });
  const matchers = tables.map((table, level) => {
    call(
      "mlx5dv_dr_matcher_create",
      { table: `0x3${level}`, priority: 1, match_criteria_enable: 0, mask: "" },
      `0x4${level}`,
    );
    return dv.mlx5dv_dr_matcher_create(table, 1, 0, null);
  });
  const { match_criteria_enable, mask } = C1;
  const judged = dv.mlx5dv_dr_matcher_create(tables[2]!, 0, match_criteria_enable, mask);
  const asked = { table: "0x32", priority: 0, match_criteria_enable, mask: hexOf(mask.match_buf) };
  call("mlx5dv_dr_matcher_create", asked, "0x43");
  const rule = (matcher: number, actions: readonly unknown[], names: readonly string[]): void => {
    call("mlx5dv_dr_rule_create", { matcher: `0x4${matcher}`, value: "", actions: names }, `0x5${matcher}`);
    dv.mlx5dv_dr_rule_create(matchers[matcher]!, null, actions.length, actions as never);
  };
  const jump = (level: number): unknown => {
    call("mlx5dv_dr_action_create_dest_table", { table: `0x3${level}` }, `0x6${level}`);
    return dv.mlx5dv_dr_action_create_dest_table(tables[level]!);
  };
  const toQueue = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  call("mlx5dv_dr_action_create_dest_ibv_qp", { qp: "0x10" }, "0x70");
  const drop = dv.mlx5dv_dr_action_create_drop();
  call("mlx5dv_dr_action_create_drop", {}, "0x71");
  const tag = dv.mlx5dv_dr_action_create_tag(9);
  call("mlx5dv_dr_action_create_tag", { tag_value: 9 }, "0x72");
  rule(0, [jump(1)], ["0x61"]);
  const action = stateful({ context, domain, tables, queue: toQueue, call });
  const next = leads ? [] : [jump(2)];
  rule(1, [action, ...next], ["0x80", ...(leads ? [] : ["0x62"])]);
  const key = dv.matchParameters({ "misc2.metadata_reg_c_1": `${value}/0xff` });
  call("mlx5dv_dr_rule_create", { matcher: "0x43", value: hexOf(key.value.match_buf), actions: ["0x71"] }, "0x59");
  dv.mlx5dv_dr_rule_create(judged, key.value, 1, [drop]);
  rule(2, [tag, toQueue], ["0x72", "0x70"]);
  return { device, lines };
}

async function compare({ device, lines }: Program): Promise<{ ends: Set<string>; scenario: Scenario; said: string[] }> {
  const { scenario, findings } = importRules(`{"flowsteerRecord":1}\n${lines.join("\n")}\n`, {
    map: { "qp 7": "app" },
  });
  expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  if (scenario === null) throw new Error("refused");
  const other = (await loadScenario({ ...scenario, device: { seed: 3 } })).device;
  const ends = new Set<string>();
  for (let n = 0; n < 200; n++) {
    for (const one of [device, other]) one.advance(1_000n);
    const [first, second] = [device, other].map((one) => {
      const { verdict, tag, to, copies } = one.receive(1, FRAME);
      return JSON.stringify([verdict, tag, to.map(({ name }) => name), copies.map(({ name }) => name)]);
    });
    expect(second).toBe(first);
    ends.add(first ?? "");
  }
  return { ends, scenario, said: findings.map(({ reason }) => reason) };
}

/** An ASO object of a kind, and its action. */
function aso(type: number, data: Uint8Array, flags: number): Stateful {
  return ({ context, domain, call }) => {
    const command = dv.createAsoCommand(type, { data, log_obj_range: 1 });
    call("mlx5dv_devx_obj_create", { in: hexOf(command) }, "0x81");
    const object = dv.mlx5dv_devx_obj_create(context, command, undefined, new Uint8Array(16), undefined);
    const values = { domain: "0x20", obj: "0x81", offset: 1, flags, return_reg_c: REGISTER };
    call("mlx5dv_dr_action_create_aso", values, "0x80");
    return dv.mlx5dv_dr_action_create_aso(domain, object, 1, flags, REGISTER);
  };
}

test("ASO meters", async () => {
  const data = dv.flowMeterBytes(METER, METER);
  const { ends, said } = await compare(await program(aso(dv.MLX5_OBJ_TYPE_FLOW_METER_ASO, data, 4), RED, false));
  expect(ends.size).toBe(2);
  expect(said).toContain("what work requests write into ASO objects is not recorded: they are as they were created");
});

test("first-hit flags", async () => {
  const flags = dv.MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET;
  const { ends } = await compare(
    await program(aso(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, dv.firstHitBytes([5]), flags), 0, false),
  );
  // The first frame finds the flag clear.
  expect(ends.size).toBe(2);
});

test("connections", async () => {
  const data = dv.connectionBytes({ valid: 1, state: 1, original: { sent_end: 101, scale: 7 }, last_index: 8 });
  const flags = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR;
  const { scenario } = await compare(await program(aso(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, data, flags), 0, false));
  expect(scenario.asoObjects?.[0]).toMatchObject({
    log_obj_range: 1,
    conn_track: { valid: 1, state: "established", last_index: "ack", original: { sent_end: 101 } },
  });
});

test("meters of rules", async () => {
  const { ends } = await compare(
    await program(
      ({ tables, call }) => {
        const flow_meter_parameter = dv.flowMeterBytes(METER);
        const values = {
          next_table: "0x32",
          active: 1,
          reg_c_index: REGISTER,
          flow_meter_parameter: hexOf(flow_meter_parameter),
        };
        call("mlx5dv_dr_action_create_flow_meter", values, "0x80");
        return dv.mlx5dv_dr_action_create_flow_meter({
          next_table: tables[2]!,
          active: 1,
          reg_c_index: REGISTER,
          flow_meter_parameter_sz: flow_meter_parameter.length,
          flow_meter_parameter,
        });
      },
      RED,
      true,
    ),
  );
  expect(ends.size).toBe(2);
});

/** A sampler; `action` is what the recorder wrote of the register that it changes. */
function sampler(action: Readonly<Record<string, string>> = {}): Stateful {
  return ({ tables, queue, call }) => {
    const values = { sample_ratio: 4, default_next_table: "0x32", sample_actions: ["0x70"], ...action };
    call("mlx5dv_dr_action_create_flow_sampler", values, "0x80");
    const attr = {
      sample_ratio: 4,
      default_next_table: tables[2]!,
      num_sample_actions: 1,
      sample_actions: [queue],
      action: 0n,
    };
    return dv.mlx5dv_dr_action_create_flow_sampler(attr as never);
  };
}

test("samplers", async () => {
  const { ends } = await compare(await program(sampler(), 1, true));
  // Frames with a copy, and without one.
  expect(ends.size).toBe(2);
});

test("changes after the creation are refused, and mark the rules of the action", async () => {
  const data = dv.flowMeterBytes(METER, METER);
  const { lines } = await program(aso(dv.MLX5_OBJ_TYPE_FLOW_METER_ASO, data, 4), RED, false);
  const change = (returns: number): string =>
    `{"call":"mlx5dv_dr_action_modify_aso","action":"0x80","offset":0,"flags":4,"return_reg_c":1,"returns":${returns}}`;
  const marked = (text: string): (string | undefined)[] => {
    const { scenario, findings } = importRules(`${lines.join("\n")}\n${text}\n`, { lenient: true });
    const reasons = findings.filter(({ severity }) => severity === "refused").map(({ reason }) => reason);
    return [...reasons, ...(scenario?.rules ?? []).flatMap(({ notImported = [] }) => notImported)];
  };
  const reason = "rules have the parameters with which their action was created";
  expect(marked(change(0))).toEqual([reason, `${change(0)}: ${reason}`]);
  // A call that failed has changed nothing.
  expect(marked(change(22))).toEqual([]);
});

test("a sampler that changes a register is refused", async () => {
  const { findings } = importRules((await program(sampler({ action: "1051000000000007" }), 1, true)).lines.join("\n"));
  expect(findings.map(({ reason }) => reason)).toContain(
    "the change of a register that a sampler makes is not imported",
  );
});
