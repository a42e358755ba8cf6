/** flowsteer serve follows the file of its scenario. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root, scratch, start } from "../support/command.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, tcpFrame, UdpPeer } from "./support/served.js";

interface Document {
  rules: { name: string; [key: string]: unknown }[];
  [section: string]: unknown;
}

const hex = (frame: Buffer): string => frame.toString("hex");
const documentOf = (): Document => JSON.parse(readFileSync(join(root, SWITCH), "utf8")) as Document;

it("changes rules with the file, and keeps frames and counters", async () => {
  const file = scratch("watched.json", JSON.stringify(documentOf()));
  const vm2 = await UdpPeer.open();
  const served = await Served.start(file, "--wire", `vm2=${vm2.wire}`, "--control", `unix:${scratch("watched.sock")}`);
  const client = await Client.open(scratch("watched.sock"));
  await client.result("subscribe", { events: ["ruleAdded"] });
  await client.result("receive", { frame: hex(tcpFrame(9, 2, 23)) });
  await client.result("receive", { frame: hex(tcpFrame(9, 2, 80)) });

  const changed = documentOf();
  changed.rules.splice(1, 0, { name: "no http", table: "switch", match: { "outer.tcp_dport": 80 }, actions: ["drop"] });
  changed.rules = changed.rules.filter(({ name }) => name !== "out");
  writeFileSync(file, JSON.stringify(changed));
  expect(await served.line("reload")).toEqual({ kind: "reload", created: ["no http"], destroyed: ["out"], kept: 9 });
  expect(await client.next()).toMatchObject({ params: { event: "ruleAdded", rule: "no http" } });
  await client.result("unsubscribe", { events: ["ruleAdded"] });
  expect(await client.result("receive", { frame: hex(tcpFrame(9, 2, 80)) })).toMatchObject({
    rules: ["all", "no http"],
  });
  expect(await client.result("counters")).toEqual({ counters: [{ name: "telnet", packets: 1, bytes: 60 }] });
  const { rules } = (await client.result("rules")) as { rules: { name: string; packets: number }[] };
  expect(rules.find(({ name }) => name === "no telnet")).toMatchObject({ packets: 1 });

  writeFileSync(file, "{ broken");
  expect(await served.line("reload-refused")).toMatchObject({ message: expect.stringContaining("not JSON") as string });
  const wrong = documentOf();
  wrong.rules.push({ name: "twice", table: "root", actions: ["drop", "drop"] });
  writeFileSync(file, JSON.stringify(wrong));
  expect(await served.line("reload-refused", 1)).toMatchObject({
    path: expect.stringContaining("rules[10]") as string,
  });
  writeFileSync(file, JSON.stringify({ ...documentOf(), device: { vports: 3 } }));
  expect(await served.line("reload-refused", 2)).toMatchObject({ path: "device" });
  expect(await client.result("rules")).toEqual({ rules: expect.arrayContaining(rules.slice(0, 1)) as unknown });
  expect(((await client.result("rules")) as { rules: unknown[] }).rules).toHaveLength(10);

  writeFileSync(file, JSON.stringify(documentOf()));
  served.child.kill("SIGHUP");
  expect(await served.line("reload", 1)).toMatchObject({ created: ["out"], destroyed: ["no http"] });
  await client.result("receive", { frame: hex(tcpFrame(9, 2, 80)) });
  expect(await vm2.frames(2)).toHaveLength(2);
  expect((await served.end()).wires).toMatchObject([{ framesOut: 2, lost: {} }]);
  vm2.close();
});

it("says in words what changed", async () => {
  const file = scratch("told.json", JSON.stringify(documentOf()));
  const child = start(["serve", file]);
  let err = "";
  for await (const text of child.stderr.setEncoding("utf8") as AsyncIterable<string>) {
    err += text;
    if (text.includes("ready;")) {
      const changed = documentOf();
      writeFileSync(file, JSON.stringify({ ...changed, rules: changed.rules.filter(({ name }) => name !== "out") }));
    }
    if (err.includes("kept 9") && !err.includes("refused")) writeFileSync(file, "{}");
    if (err.includes("refused")) child.kill("SIGTERM");
  }
  expect(err).toContain(`${file} changed: destroyed "out"; kept 9\n`);
  expect(err).toContain(`${file} changed and is refused: parseScenario: `);
});
