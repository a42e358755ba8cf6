/** Calls by their C names through the control. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { root, scratch } from "../support/command.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, tcpFrame } from "./support/served.js";

interface Numbered {
  readonly $: string;
  readonly id: number;
}

async function serve(
  name: string,
): Promise<{ served: Served; client: Client; c: (call: string, ...args: unknown[]) => Promise<unknown> }> {
  const path = scratch(name);
  const served = await Served.start(SWITCH, "--control", `unix:${path}`);
  const client = await Client.open(path);
  return { served, client, c: (call, ...args) => client.result(call, { args }) };
}

const constant = (name: string): object => ({ $: "constant", name });

it("has every function of the facades", async () => {
  const { served, client } = await serve("list.sock");
  const { methods } = (await client.result("methods")) as { methods: string[] };
  const functions = Object.entries({ ...v, ...dv }).filter(
    ([name, one]) => /^(ibv|mlx5dv)_/.test(name) && typeof one === "function",
  );
  expect(functions.length).toBeGreaterThan(300);
  expect(functions.map(([name]) => name).filter((name) => !methods.includes(name))).toEqual([]);
  for (const [name] of functions) {
    const { error } = await client.call(name, { args: [] });
    expect(error?.code, `${name}: ${error?.message ?? ""}`).not.toBe(-32601);
  }
  await served.end();
});

it("makes queues, rules and memory, and receives into it", async () => {
  const { served, client, c } = await serve("queues.sock");
  const context = { $: "context" };
  const pd = await c("ibv_alloc_pd", context);
  const cq = await c("ibv_create_cq", context, 4);
  const { id } = (await client.result("memory", { bytes: 256 })) as Numbered;
  const memory = { $: "memory", id };
  const mr = (await c("ibv_reg_mr", pd, memory, { $: "undefined" }, constant("IBV_ACCESS_LOCAL_WRITE"))) as Numbered;
  expect(mr).toMatchObject({ $: "object", class: "MemoryRegion" });
  const { lkey } = (await client.result("fields", { id: mr.id })) as { lkey: number };
  const cap = { max_send_wr: 1, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1 };
  const qp = await c("ibv_create_qp", pd, { send_cq: cq, recv_cq: cq, cap, qp_type: constant("IBV_QPT_RAW_PACKET") });
  const init = { qp_state: constant("IBV_QPS_INIT"), port_num: 1 };
  await c("ibv_modify_qp", qp, init, constant("IBV_QP_STATE|IBV_QP_PORT"));
  await c("ibv_modify_qp", qp, { qp_state: constant("IBV_QPS_RTR") }, constant("IBV_QP_STATE"));
  const sg_list = [{ addr: { ...memory, at: 16, length: 100 }, length: 100, lkey }];
  await c("ibv_post_recv", qp, { wr_id: { $: "bigint", value: "7" }, sg_list, num_sge: 1 });
  const flow = { type: constant("IBV_FLOW_ATTR_ALL_DEFAULT"), port: 1, specs: [] };
  expect(await c("ibv_create_flow", qp, flow)).toMatchObject({ class: "VerbsFlow" });
  for (const name of ["all"]) await c("mlx5dv_dr_rule_destroy", { $: "rule", name });
  const frame = tcpFrame(9, 1, 80).toString("hex");
  expect(await client.result("receive", { frame })).toMatchObject({ verdict: "deliver" });
  expect(await c("ibv_poll_cq", cq, 4)).toMatchObject([{ wr_id: { $: "bigint", value: "7" }, byte_len: 60 }]);
  expect(await client.result("memory_read", { id, at: 16, length: 60 })).toEqual({ hex: frame });
  expect(((await client.result("rules")) as { rules: unknown[] }).rules).toHaveLength(9);
  await served.end();
});

it("answers with what a call writes into its arguments", async () => {
  const { served, client, c } = await serve("out.sock");
  const context = { $: "context" };
  const counters = await c("ibv_create_counters", context, { comp_mask: 0 });
  await c("ibv_attach_counters_point_flow", counters, { counter_desc: 0, index: 1 }, null);
  const values = { $: "bytes", length: 16, type: "BigUint64Array" };
  expect(await c("ibv_read_counters", counters, values, 2, 0)).toEqual(0);
  const filled = { ...values, length: undefined, hex: "ff".repeat(16) };
  expect(await c("ibv_read_counters", counters, filled, 2, 0)).toEqual({
    result: 0,
    out: { 1: { $: "bytes", type: "BigUint64Array", hex: "00".repeat(16) } },
  });
  const port = await c("mlx5dv_query_port", context, 1);
  expect(port).toMatchObject({ vport: 0xffff });
  expect(await c("mlx5dv_query_port", context, 1, {})).toEqual({ result: 0, out: { 2: port } });
  expect(await c("ibv_query_rt_values_ex", context, { comp_mask: 1 })).toMatchObject({
    result: 0,
    out: { 1: { comp_mask: 1, raw_clock: { tv_nsec: { $: "bigint" } } } },
  });
  const device = await c("ibv_query_device", context);
  expect(await c("ibv_query_device", context, {})).toEqual({ result: 0, out: { 1: device } });
  const domain = await c("mlx5dv_dr_domain_create", context, constant("MLX5DV_DR_DOMAIN_TYPE_NIC_RX"));
  expect(await c("mlx5dv_dump_dr_domain", { $: "text" }, domain)).toEqual({
    result: 0,
    out: { 0: { $: "text", text: expect.stringContaining("flowsteer") as string } },
  });
  // Memory of a client stays where it is.
  const { id } = (await client.result("memory", { bytes: 64 })) as Numbered;
  const memory = { $: "memory", id, at: 8, length: 16, type: "BigUint64Array" };
  await client.result("memory_write", { id, at: 0, hex: "ff".repeat(64) });
  expect(await c("ibv_read_counters", counters, memory, 2, 0)).toBe(0);
  expect(await client.result("memory_read", { id, at: 0, length: 32 })).toEqual({
    hex: `${"ff".repeat(8)}${"00".repeat(16)}${"ff".repeat(8)}`,
  });
  const pd = await c("ibv_alloc_pd", context);
  const cq = await c("ibv_create_cq", context, 4);
  const qp = await c("ibv_create_qp", pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type: constant("IBV_QPT_RC") });
  const { error } = await client.call("ibv_post_send", { args: [qp, { wr_id: 7, opcode: 2, sg_list: [] }, {}] });
  expect(error).toMatchObject({ code: 1, data: { reason: "bad_state", out: { 2: { wr: { wr_id: 7 } } } } });
  await served.end();
});

it.each([
  ["a type", "mlx5dv_dr_table_create", [7, 0], "mlx5dv_dr_table_create: domain must be a Domain, not number"],
  [
    "a member's type",
    "ibv_create_cq_ex",
    [{ $: "context" }, { cqe: "1" }],
    /^ibv_create_cq_ex: cq_attr.cqe must be a n/,
  ],
  ["a member of $", "ibv_alloc_pd", [{ $: "context", id: 1 }], /"context" has no id: no members/],
  [
    "a kind",
    "ibv_alloc_pd",
    [{ $: "pd" }],
    /\$ is one of object, bytes, text, bigint, number, undefined, memory, constant, device, context, queue, counter, table, matcher, rule, flow$/,
  ],
])("tells a wrong argument by %s as one", async (_, call, args, message) => {
  const { served, client } = await serve("wrong.sock");
  const { error } = await client.call(call, { args });
  expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) as string });
  await served.end();
});

it.each([
  ["no such object", "ibv_alloc_pd", [{ $: "object", id: 99 }], /no object has the number 99/],
  ["no such name", "mlx5dv_dr_rule_destroy", [{ $: "rule", name: "none" }], /there is no rule "none"/],
  [
    "no such constant",
    "ibv_create_cq",
    [{ $: "context" }, { $: "constant", name: "IBV_X" }],
    /there is no constant "IBV_X"/,
  ],
  ["another kind", "ibv_create_cq", [{ $: "file" }], /\$ is one of/],
  ["bytes with a number", "ibv_reg_mr", [null, { $: "bytes", id: 5, of: 1e15, hex: "" }], /memory of an earlier call/],
  ["odd digits", "ibv_reg_mr", [null, { $: "bytes", hex: "0" }], /hexadecimal digits/],
])("refuses %s", async (_, call, args, message) => {
  const { served, client } = await serve("bad-values.sock");
  const { error } = await client.call(call, { args });
  expect(error?.message).toMatch(message);
  expect(error?.code).toBe(-32602);
  for (const params of [{ bytes: 0 }, { bytes: 2 ** 40 }, {}])
    expect((await client.call("memory", params)).error).toBeDefined();
  await client.result("memory", { bytes: 64 << 20 });
  expect((await client.call("memory", { bytes: 1 })).error?.message).toMatch(/at once/);
  await client.result("release", { id: 1 });
  expect(await client.result("memory", { bytes: 1 })).toMatchObject({ class: "ArrayBuffer" });
  await served.end();
});

/** The source files of a folder. */
function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

it("has no way to files: what its calls are made of does not import them", () => {
  const rooms = ["verbs", "mlx5dv", "model", "scenario", "explain", "proof", "packet", "replay", "snapshot"];
  const all = [...rooms.flatMap((room) => sources(`src/${room}`)), ...sources("src/cli/control")];
  const importing = all.filter((file) =>
    /from "(node:)?(fs|fs\/promises|child_process)"/.test(readFileSync(join(root, file), "utf8")),
  );
  expect(importing).toEqual([]);
});
