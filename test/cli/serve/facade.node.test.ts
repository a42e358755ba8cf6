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
  expect(error?.code).not.toBe(-32603);
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
  // The socket of the control itself gets its permissions.
  expect(importing).toEqual([join("src/cli/control", "control.ts")]);
});
