/** The control of flowsteer serve: calls, events, limits, and messages that are none. */
import { once } from "node:events";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { flowsteer, root, scratch, start } from "../support/command.js";
import { badMessages } from "./support/badMessages.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, tcpFrame, UdpPeer } from "./support/served.js";

const hex = (frame: Buffer): string => frame.toString("hex");

async function serveWith(name: string, ...args: string[]): Promise<{ served: Served; client: Client }> {
  const path = scratch(name);
  const served = await Served.start(SWITCH, "--control", `unix:${path}`, ...args);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  return { served, client: await Client.open(path) };
}

it("answers calls, and changes rules while frames come", async () => {
  const vm2 = await UdpPeer.open();
  const { served, client } = await serveWith("calls.sock", "--wire", `vm2=${vm2.wire}`);
  const frame = hex(tcpFrame(1, 2, 23));
  expect(await client.result("send", { queue: "vm1", frame })).toMatchObject({
    verdict: "drop",
    rules: ["all", "no telnet"],
  });
  expect(await client.result("counters")).toEqual({ counters: [{ name: "telnet", packets: 1, bytes: 60 }] });
  expect(await client.result("why", { queue: "vm1", frame, target: { queue: "vm2" } })).toHaveProperty("explanation");
  expect(await client.result("trace", { queue: "vm1", frame })).toMatchObject({ trace: { complete: true } });
  expect(await client.result("mlx5dv_dr_rule_destroy", { rule: "no telnet" })).toBeNull();
  expect(await client.result("send", { queue: "vm1", frame })).toMatchObject({ verdict: "deliver", to: ["qp:vm2"] });
  expect(hex((await vm2.frames(1))[0] as Buffer)).toBe(frame);
  const rule = { name: "no ssh", table: "switch", match: { "outer.tcp_dport": 22 }, actions: ["drop"] };
  expect(await client.result("mlx5dv_dr_rule_create", rule)).toEqual({ name: "no ssh" });
  expect(await client.result("receive", { frame: hex(tcpFrame(9, 2, 22)) })).toMatchObject({
    rules: ["all", "no ssh"],
  });
  const { rules } = (await client.result("rules")) as { rules: { name: string }[] };
  expect(rules.find(({ name }) => name === "no ssh")).toEqual({
    name: "no ssh",
    table: "switch",
    packets: 1,
    bytes: 60,
  });
  expect(await client.result("tables")).toMatchObject({ tables: [{ name: "root", packets: 3 }, {}, {}, {}] });
  expect(await client.result("wires")).toMatchObject({ wires: [{ place: "qp:vm2", framesOut: 1 }] });
  expect(await client.result("metrics")).toMatchObject({ device: "flowsteer0", rules: 10 });
  expect(await client.result("prometheus")).toMatchObject({ text: expect.stringContaining("flowsteer_") as string });
  const { methods } = (await client.result("methods")) as { methods: string[] };
  expect(methods).toContain("subscribe");
  expect((await served.end()).dropped).toEqual({ drop_action: { frames: 2, bytes: 120 } });
  vm2.close();
});

it("tells a refused call with the reason of the device", async () => {
  const { served, client } = await serveWith("refused.sock");
  const twice = await client.call("mlx5dv_dr_rule_create", { name: "all", table: "root" });
  expect(twice.error).toMatchObject({ code: 1, data: { code: "EINVAL", reason: "duplicate_name", path: "name" } });
  const unknown = await client.call("mlx5dv_dr_rule_create", { name: "x", table: "rot" });
  expect(unknown.error).toMatchObject({ code: 1, data: { reason: "unknown_name", path: "table" } });
  const field = await client.call("mlx5dv_dr_rule_create", {
    name: "x",
    table: "root",
    match: { "outer.tcp_dprt": 1 },
  });
  expect(field.error?.data).toMatchObject({ path: "match.outer.tcp_dprt" });
  await served.end();
});

it("notifies of events", async () => {
  const { served, client } = await serveWith("events.sock");
  expect(await client.result("subscribe", { events: ["drop", "ruleRemoved"] })).toEqual({
    events: ["drop", "ruleRemoved"],
  });
  const frame = hex(tcpFrame(9, 1, 23));
  client.write(JSON.stringify({ jsonrpc: "2.0", method: "receive", params: { frame } }));
  expect(await client.next()).toMatchObject({
    method: "event",
    params: { event: "drop", reason: "drop_action", rule: "no telnet", frame, outcome: { verdict: "drop" } },
  });
  client.write(JSON.stringify({ jsonrpc: "2.0", method: "mlx5dv_dr_rule_destroy", params: { rule: "no telnet" } }));
  expect(await client.next()).toMatchObject({ params: { event: "ruleRemoved", rule: "no telnet" } });
  expect(await client.result("unsubscribe", { events: ["drop"] })).toEqual({ events: ["ruleRemoved"] });
  await served.end();
});

/** Runs an example of a client. */
function ranClient(file: string, ...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) =>
    execFile(file, args, (error, out, err) => resolve({ code: error?.code ?? 0, out, err })),
  );
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("examples/serve_client.py is not run: no python3");

it.runIf(hasPython)("has a client in Python", async () => {
  const { served } = await serveWith("python.sock");
  const call = (...args: string[]): ReturnType<typeof ranClient> =>
    ranClient("python3", join(root, "examples/serve_client.py"), scratch("python.sock"), ...args);
  expect(JSON.parse((await call("counters")).out)).toEqual({ counters: [{ name: "telnet", packets: 0, bytes: 0 }] });
  expect((await call("mlx5dv_dr_rule_destroy", '{"rule": "no telnet"}')).out).toBe("null\n");
  expect(await call("mlx5dv_dr_rule_destroy", '{"rule": "no telnet"}')).toMatchObject({
    code: 1,
    err: expect.stringContaining("unknown_name") as string,
  });
  await served.end();
});

const hasGcc = spawnSync("gcc", ["--version"]).status === 0;
if (!hasGcc) console.warn("examples/serve_client.c is not run: no gcc");

describe.runIf(hasGcc)("the client in C", () => {
  const program = scratch("serve_client");
  const drop = { frame: hex(tcpFrame(9, 1, 23)) };

  beforeAll(() => {
    const source = join(root, "examples/serve_client.c");
    const args = ["-Wall", "-Wextra", "-Werror", "-std=c11", "-o", program, source];
    execFileSync("gcc", args, { stdio: ["ignore", "ignore", "inherit"] });
  });

  it("prints results and refusals", async () => {
    const { served } = await serveWith("c.sock");
    const call = (...args: string[]): ReturnType<typeof ranClient> => ranClient(program, scratch("c.sock"), ...args);
    const lines = (await call()).out.split("\n");
    expect(lines.map((line) => line.split(":")[0])).toEqual(["rules", "counters", "wires", ""]);
    expect(JSON.parse(lines[2]?.slice("wires: ".length) ?? "")).toEqual({ wires: [], dropped: {} });
    expect(JSON.parse((await call("receive", JSON.stringify(drop))).out)).toMatchObject({ verdict: "drop" });
    expect(JSON.parse((await call("prometheus")).out)).toHaveProperty("text");
    const destroyed = ["mlx5dv_dr_rule_destroy", '{\n  "rule": "no telnet"\n}'];
    expect(await call(...destroyed)).toEqual({ code: 0, out: "null\n", err: "" });
    expect(await call(...destroyed)).toMatchObject({ code: 1, out: "", err: expect.stringContaining("unknown_name") });
    await served.end();
  });

  it("prints events until the device ends", async () => {
    const { served, client } = await serveWith("c-events.sock");
    const child = spawn(program, [scratch("c-events.sock"), "subscribe", '{"events": ["drop"]}']);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string) as unknown;
    expect(await next()).toEqual({ events: ["drop"] });
    await client.result("receive", drop);
    expect(await next()).toMatchObject({ event: "drop", reason: "drop_action", rule: "no telnet" });
    const closed = once(child, "close");
    await served.end();
    expect(await closed).toEqual([0, null]);
  });

  it("refuses what it cannot send", async () => {
    const none = scratch("none.sock");
    expect(await ranClient(program, none, "rules")).toMatchObject({ code: 2, err: expect.stringContaining(none) });
    expect(await ranClient(program, `${none}${"x".repeat(99)}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining("at most 107 bytes"),
    });
    for (const params of ["", "5", "[]", "{}}", '{"a": [}', '{"a', "{} {}"]) {
      const { code, err } = await ranClient(program, none, "rules", params);
      expect({ code, err }, params).toMatchObject({
        code: 2,
        err: expect.stringContaining("params are one JSON object"),
      });
    }
  });
});

it("has a schema that its messages meet", async () => {
  const schema = JSON.parse(readFileSync(join(root, "schema/serve-1.schema.json"), "utf8")) as object;
  const isValid = new Ajv2020({ strict: false }).compile(schema);
  const { served, client } = await serveWith("schema.sock");
  const { methods } = (await client.result("methods")) as { methods: string[] };
  const { Request } = (
    schema as { $defs: { Request: { properties: { method: { anyOf: [{ enum: string[] }, { pattern: string }] } } } } }
  ).$defs;
  const [own, ofC] = Request.properties.method.anyOf;
  const others = methods.filter((name) => !new RegExp(ofC.pattern).test(name));
  expect(own.enum.toSorted()).toEqual(others.toSorted());
  for (const method of methods) expect(isValid(await client.call(method)), method).toBe(true);
  expect(isValid({ jsonrpc: "2.0", method: "receive", params: { frame: "0" } })).toBe(false);
  expect(isValid({ jsonrpc: "2.0", method: "receive", params: { frame: "00" } })).toBe(true);
  await served.end();
});

it("speaks on standard input and output", async () => {
  const child = start(["serve", SWITCH, "--control", "-", "--quiet"]);
  child.stdin.write('{"jsonrpc":"2.0","id":"a","method":"counters"}\n');
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  expect(JSON.parse(line.toString())).toEqual({
    jsonrpc: "2.0",
    id: "a",
    result: { counters: [{ name: "telnet", packets: 0, bytes: 0 }] },
  });
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
});

it("has limits of messages, connections and rates", async () => {
  const path = scratch("limits.sock");
  const served = await Served.start(
    SWITCH,
    "--control",
    `unix:${path}`,
    "--most-bytes",
    "1000",
    "--most-requests",
    "50",
  );
  const long = await Client.open(path);
  const closed = once(long.socket, "close");
  long.write("x".repeat(1001));
  expect(await long.next()).toMatchObject({ error: { code: -32600, message: "a message has at most 1000 bytes" } });
  await closed;
  const peers = await Promise.all(Array.from({ length: 16 }, () => Client.open(path)));
  for (const peer of peers) expect(await peer.result("counters")).toBeDefined();
  const more = await Client.open(path);
  if (!more.socket.destroyed) await new Promise((resolve) => more.socket.once("close", resolve));
  // The 101st message waits for the third second.
  const first = peers[0] as Client;
  const began = performance.now();
  for (let i = 0; i < 101; i++) await first.result("counters");
  expect(performance.now() - began).toBeGreaterThan(900);
  await served.end();
});

it.each([
  ["a place", ["--control", "tcp:127.0.0.1:1"], /unix:PATH, ws:HOST:PORT, or - for standard input and output/],
  ["a folder", ["--control", "unix:nowhere/x.sock"], /ENOENT|EACCES/],
  ["a limit", ["--most-bytes", "0"], /expected a whole number, 1 or more/],
])("refuses %s", async (_, args, message) => {
  const { code, err } = await flowsteer(["serve", SWITCH, ...args]);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});

it("gives errors to bad messages, which change nothing", async () => {
  const count = Number(import.meta.env?.["FLOWSTEER_MESSAGES"] ?? 5000);
  const seed = Number(import.meta.env?.["FLOWSTEER_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}, ${count} messages`);
  const { served, client } = await serveWith("bad.sock", "--most-requests", "100000000");
  let state = seed;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const kinds = badMessages(draw);
  const world = async (): Promise<object> => {
    const { time: _time, ...metrics } = (await client.result("metrics")) as { time: number };
    return { metrics, counters: await client.result("counters"), wires: await client.result("wires") };
  };
  // What is made once: the traced core, the action of a refused rule.
  const send = async (some: number): Promise<void> => {
    const texts = Array.from({ length: some }, () => (kinds[draw(kinds.length)] as () => string)());
    client.write(texts.map((text) => (text.trim() === "" ? "x" : text)).join("\n"));
    for (const text of texts) {
      const answer = await client.next();
      const all = Array.isArray(answer) ? (answer as (typeof answer)[]) : [answer];
      for (const one of all)
        if (one?.error === undefined || one.error.code === -32603) throw new Error(`${text}: ${JSON.stringify(one)}`);
    }
  };
  await send(200);
  const before = await world();
  for (let done = 0; done < count; done += 500) await send(Math.min(500, count - done));
  expect(await world()).toEqual(before);
  await served.end();
});
