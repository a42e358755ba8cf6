/** Snapshots of flowsteer serve: written at the end, restored at the start. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { restoreScenario } from "../../../src/scenario/index.js";
import { restoreDevice } from "../../../src/snapshot/index.js";
import { flowsteer, root, scratch } from "../support/command.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, tcpFrame, UdpPeer } from "./support/served.js";

/** The core of the command, which snapshots name. */
const CORE = pathToFileURL(join(root, "dist/core.wasm"));

const hex = (frame: Buffer): string => frame.toString("hex");

it("writes a snapshot at the end, and goes on from there", async () => {
  const file = scratch("end.snapshot");
  const [uplink, vm2] = [await UdpPeer.open(), await UdpPeer.open()];
  const wires = ["--wire", `uplink=${uplink.wire}`, "--wire", `vm2=${vm2.wire}`];
  const first = await Served.start(SWITCH, ...wires, "--snapshot", file, "--control", `unix:${scratch("first.sock")}`);
  const one = await Client.open(scratch("first.sock"));
  const rule = { name: "no ssh", table: "switch", match: { "outer.tcp_dport": 22 }, actions: ["drop"] };
  await one.result("mlx5dv_dr_rule_create", rule);
  await one.result("receive", { frame: hex(tcpFrame(9, 2, 23)) });
  const { time } = (await one.result("metrics")) as { time: number };
  const { snapshot } = (await first.end()) as unknown as { snapshot: { file: string; bytes: number } };
  expect(snapshot).toEqual({ file, bytes: statSync(file).size });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const next = await Served.start("--restore", file, ...wires, "--control", `unix:${scratch("next.sock")}`);
  const two = await Client.open(scratch("next.sock"));
  expect(await two.result("counters")).toEqual({ counters: [{ name: "telnet", packets: 1, bytes: 60 }] });
  expect(((await two.result("metrics")) as { time: number }).time).toBeGreaterThan(time);
  expect(await two.result("receive", { frame: hex(tcpFrame(9, 2, 22)) })).toMatchObject({ rules: ["all", "no ssh"] });
  // Wires are plugged into the restored ports and queues.
  await uplink.send(tcpFrame(9, 2, 80), await next.portOf("port:1"));
  expect(hex((await vm2.frames(1))[0] as Buffer)).toBe(hex(tcpFrame(9, 2, 80)));
  expect(await next.end()).toMatchObject({ snapshot: null, wires: [{ framesIn: 1 }, { framesOut: 1 }] });
  uplink.close();
  vm2.close();
});

it("gives a snapshot to a client", async () => {
  const served = await Served.start(SWITCH, "--control", `unix:${scratch("given.sock")}`);
  const client = await Client.open(scratch("given.sock"));
  await client.result("receive", { frame: hex(tcpFrame(9, 2, 23)) });
  const { base64 } = (await client.result("snapshot")) as { base64: string };
  const { device, kept } = await restoreDevice(Buffer.from(base64, "base64"), { core: CORE });
  const loaded = await restoreScenario(device, kept);
  expect(loaded.counters.get("telnet")?.read()).toEqual({ packets: 1n, bytes: 60n });
  await served.end();
});

it("says that a snapshot could not be written, and keeps the older one", async () => {
  const file = scratch("kept.snapshot", "older");
  const served = await Served.start(SWITCH, "--snapshot", file);
  // Something in the place of the part that is written.
  mkdirSync(`${file}.part/inside`, { recursive: true });
  served.child.kill("SIGTERM");
  const { snapshot } = await served.line("sum");
  expect(snapshot).toEqual({ file, error: expect.any(String) as string });
  expect(await served.closed).toBe(1);
  expect(readFileSync(file, "utf8")).toBe("older");
});

/** A rename at the end would put a file in its place. */
const PIPE = scratch("snapshot.fifo");

beforeAll(() => {
  expect(spawnSync("mkfifo", [PIPE]).status).toBe(0);
});

afterAll(() => {
  expect(statSync(PIPE).isFIFO()).toBe(true);
});

it.each([
  ["a folder that is not there", [SWITCH, "--snapshot", "nowhere/x"], /folder nowhere does not exist/],
  ["a folder as a file", [SWITCH, "--snapshot", "docs"], /--snapshot docs: is a folder; name a file/],
  ["a pipe as a file", [SWITCH, "--snapshot", PIPE], /is not a regular file; name a file/],
  ["no file", ["--restore", "nothing"], /--restore nothing.*ENOENT/s],
  ["no snapshot", ["--restore", "README.md"], /--restore README\.md.*it is no snapshot/s],
])("refuses %s", async (_, args, message) => {
  const { code, err } = await flowsteer(["serve", ...args]);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});
