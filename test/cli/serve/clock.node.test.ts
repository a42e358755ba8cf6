/** The clock of a served device: that of the machine, or one that the control moves. */
import { expect, it } from "vitest";
import { buildFrame } from "../../../src/packet/index.js";
import { scratch } from "../support/command.js";
import { Client } from "./support/client.js";
import { Served, SWITCH, UdpPeer } from "./support/served.js";

const METER = "examples/state-meter.json";
const WEB = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 80 }]);

async function serve(...args: string[]): Promise<{ served: Served; client: Client }> {
  const path = scratch(`clock${args.length}.sock`);
  const served = await Served.start(...args, "--control", `unix:${path}`);
  return { served, client: await Client.open(path) };
}

it("moves a virtual clock, by which meters run", async () => {
  const { served, client } = await serve(METER, "--virtual-time");
  const verdict = async (): Promise<unknown> =>
    ((await client.result("receive", { frame: Buffer.from(WEB).toString("hex") })) as { verdict: unknown }).verdict;
  // Two packets at once, then two a millisecond.
  expect([await verdict(), await verdict(), await verdict()]).toEqual(["deliver", "deliver", "drop"]);
  expect(await client.result("nextDeadline")).toEqual({ time: 0, next: null });
  expect(await client.result("advance", { nanoseconds: 510_000 })).toEqual({ time: 510_000, next: null });
  expect([await verdict(), await verdict()]).toEqual(["deliver", "drop"]);
  expect(await client.result("advanceTo", { time: "9007199254740993" })).toEqual({
    time: "9007199254740993",
    next: null,
  });
  const back = await client.call("advanceTo", { time: 5 });
  expect(back.error).toMatchObject({ code: 1, data: { code: "EINVAL", reason: "time_back" } });
  for (const nanoseconds of [-1, 1.5, "x", "18446744073709551616", null, 2 ** 60])
    expect((await client.call("advance", { nanoseconds })).error, String(nanoseconds)).toMatchObject({ code: -32602 });
  expect(await client.result("nextDeadline")).toEqual({ time: "9007199254740993", next: null });
  await served.end();
});

it("steers frames of wires at the time of their arrival", async () => {
  const customer = await UdpPeer.open();
  const uplink = await UdpPeer.open();
  const wires = ["--wire", `customer=${customer.wire}`, "--wire", `uplink=${uplink.wire}`];
  const { served, client } = await serve(METER, "--virtual-time", ...wires);
  const port = await served.portOf("port:1");
  const count = async (): Promise<number> => {
    const { wires } = (await client.result("wires")) as { wires: { place: string; framesIn: number }[] };
    return wires.find(({ place }) => place === "port:1")?.framesIn ?? 0;
  };
  for (let burst = 1; burst <= 3; burst++) {
    for (let n = 0; n < 3; n++) await uplink.send(WEB, port);
    while ((await count()) < 3 * burst);
    await client.result("advance", { nanoseconds: 1_100_000 });
  }
  // Two of three in each burst, however long the machine took.
  expect(await customer.frames(6)).toHaveLength(6);
  expect((await served.end()).dropped).toEqual({ drop_action: { frames: 3, bytes: 3 * WEB.length } });
  customer.close();
  uplink.close();
});

it("refuses to move the clock of the machine", async () => {
  const { served, client } = await serve(SWITCH);
  for (const [call, params] of [
    ["advance", { nanoseconds: 5 }],
    ["advanceTo", { time: 5 }],
  ] as const) {
    const { error } = await client.call(call, params);
    expect(error?.message).toBe(
      `${call}: the program moves the clock of this device (EINVAL); the clock follows that of the machine: ` +
        "start flowsteer serve with --virtual-time",
    );
  }
  const { time } = (await client.result("nextDeadline")) as { time: number };
  expect(((await client.result("nextDeadline")) as { time: number }).time).toBeGreaterThan(time);
  await served.end();
});
