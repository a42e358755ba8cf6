/** Connections of the control are sessions: what they make is theirs, and ends with them. */
import { once } from "node:events";
import { expect, it } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { scratch } from "../support/command.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, tcpFrame } from "./support/served.js";

const constant = (name: string): object => ({ $: "constant", name });
const context = { $: "context" };
const frame = tcpFrame(9, 1, 80).toString("hex");

interface Sums {
  readonly session: number;
  readonly sessions: readonly { readonly session: number; readonly memory: number; readonly objects: object }[];
}

async function serve(name: string): Promise<{ served: Served; open: () => Promise<Client> }> {
  const path = scratch(name);
  const served = await Served.start(SWITCH, "--control", `unix:${path}`);
  return { served, open: () => Client.open(path) };
}

const call = (client: Client, name: string, ...args: unknown[]): Promise<unknown> => client.result(name, { args });

/** Makes a rule that drops all, and queues and memory. */
async function dropAll(client: Client): Promise<void> {
  const pd = await call(client, "ibv_alloc_pd", context);
  const cq = await call(client, "ibv_create_cq", context, 4);
  const { id } = (await client.result("memory", { bytes: 64 })) as { id: number };
  await call(client, "ibv_reg_mr", pd, { $: "memory", id }, null, 1);
  await call(client, "ibv_create_qp", pd, { send_cq: cq, recv_cq: cq, qp_type: constant("IBV_QPT_RC") });
  const mask = { match_buf: { $: "bytes", length: 64 } };
  const matcher = await call(client, "mlx5dv_dr_matcher_create", { $: "table", name: "switch" }, 0, 0, mask);
  const drop = await call(client, "mlx5dv_dr_action_create_drop");
  await call(client, "mlx5dv_dr_rule_create", matcher, mask, 1, [drop]);
}

/** What the device holds. */
async function heldBy(client: Client): Promise<object> {
  const { rules, memory } = (await client.result("metrics")) as { rules: number; memory: { used: number } };
  return { rules, used: memory.used };
}

/** Waits until as many sessions are open. */
async function sumsOf(client: Client, count: number): Promise<Sums> {
  for (;;) {
    const sums = (await client.result("sessions")) as Sums;
    if (sums.sessions.length === count) return sums;
  }
}

it("ends the objects of a connection with it, users before what they use", async () => {
  const { served, open } = await serve("end.sock");
  const client = await open();
  const verdict = async (): Promise<unknown> =>
    ((await client.result("receive", { frame })) as { verdict: string }).verdict;
  expect(await verdict()).toBe("deliver");

  const before = await heldBy(client);
  for (const kill of [(one: Client) => one.socket.end(), (one: Client) => one.socket.destroy()]) {
    const other = await open();
    await dropAll(other);
    expect(await verdict()).toBe("drop");
    expect((await sumsOf(client, 2)).sessions).toMatchObject([
      { session: 1, memory: 0, objects: {} },
      {
        memory: 64,
        objects: {
          ibv_pd: 1,
          ibv_cq: 1,
          ibv_mr: 1,
          ibv_qp: 1,
          mlx5dv_dr_matcher: 1,
          mlx5dv_dr_action: 1,
          mlx5dv_dr_rule: 1,
        },
      },
    ]);
    const closed = once(other.socket, "close");
    kill(other);
    await closed;
    await sumsOf(client, 1);
    expect(await verdict()).toBe("deliver");
    expect(await heldBy(client)).toEqual(before);
  }
  await served.end();
});

it("acknowledges events by what they say, and at the end of a session", async () => {
  const { served, open } = await serve("events.sock");
  const [watcher, client] = [await open(), await open()];
  const before = await heldBy(watcher);
  const own = await call(client, "ibv_open_device", { $: "device" });
  const pd = await call(client, "ibv_alloc_pd", own);
  const srq = await call(client, "ibv_create_srq", pd, { attr: { max_wr: 4, max_sge: 1 } });
  for (const end of [false, true]) {
    // With fewer requests than that already, the event comes at once.
    await call(client, "ibv_modify_srq", srq, { srq_limit: 2 }, constant("IBV_SRQ_LIMIT"));
    const event = await call(client, "ibv_get_async_event", own);
    expect(event).toEqual({ event_type: 15, element: { srq } });
    const { error } = await client.call("ibv_destroy_srq", { args: [srq] });
    expect(error).toMatchObject({ code: 1, data: { code: "EBUSY" } });
    if (end) break;
    await call(client, "ibv_ack_async_event", event);
    expect((await client.call("ibv_ack_async_event", { args: [event] })).error).toMatchObject({ code: 1 });
  }
  client.socket.destroy();
  await sumsOf(watcher, 1);
  expect(await heldBy(watcher)).toEqual(before);
  await served.end();
});

it("keeps the numbers and objects of sessions apart", async () => {
  const { served, open } = await serve("apart.sock");
  const [a, b] = [await open(), await open()];
  const pd = (await call(a, "ibv_alloc_pd", context)) as { id: number };
  expect((await b.call("ibv_dealloc_pd", { args: [pd] })).error).toMatchObject({ code: -32602 });
  expect((await b.call("fields", { id: pd.id })).error).toMatchObject({ code: -32602 });
  // Not by the numbers of device commands either.
  const hex = (bytes: Uint8Array): object => ({ $: "bytes", hex: Buffer.from(bytes).toString("hex") });
  const out = { $: "bytes", length: 16 };
  const counter = await call(a, "mlx5dv_devx_obj_create", context, hex(dv.allocFlowCounterCommand()), null, out, null);
  const { result, out: wrote } = counter as { result: { id: number }; out: { 3: { hex: string } } };
  const number = Buffer.from(wrote[3].hex, "hex").readUInt32BE(8);
  const free = [context, hex(dv.deallocFlowCounterCommand(number)), null, out, null];
  expect((await b.call("mlx5dv_devx_general_cmd", { args: free })).error).toMatchObject({ code: 1 });
  expect(await call(a, "mlx5dv_devx_general_cmd", ...free)).toBe(0);
  expect((await a.call("mlx5dv_devx_obj_destroy", { args: [result] })).error).toMatchObject({
    data: { reason: "object_destroyed" },
  });
  // Named objects are everybody's, but for the context.
  expect(await call(b, "mlx5dv_dr_rule_destroy", { $: "rule", name: "no telnet" })).toBe(0);
  expect((await a.call("ibv_close_device", { args: [context] })).error).toMatchObject({ code: -32602 });
  const own = await call(a, "ibv_open_device", { $: "device" });
  const held = await call(a, "ibv_alloc_pd", own);
  expect(await call(a, "ibv_close_device", own)).toBe(0);
  expect(await call(a, "ibv_dealloc_pd", held)).toBe(0);
  await a.result("memory", { bytes: 64 << 20 });
  expect((await b.call("memory", { bytes: 1 })).error?.message).toMatch(/at once/);
  a.socket.destroy();
  await sumsOf(b, 1);
  await b.result("memory", { bytes: 1 });
  await served.end();
});
