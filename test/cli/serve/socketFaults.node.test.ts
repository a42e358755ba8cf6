/** flowsteer serve, while peers of its sockets and files fail in the middle of anything. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { scratch } from "../support/command.js";
import { Client } from "./support/client.js";
import { frameOf, lengthened, Served, SWITCH, UdpPeer } from "./support/served.js";

async function opened(to: { port: number; host: string } | { path: string }): Promise<Socket> {
  const socket = connect(to);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** What a client reads of the device, without the time. */
async function metricsBy(path: string): Promise<object> {
  const client = await Client.open(path);
  const { time: _, ...rest } = (await client.result("metrics")) as Record<string, unknown>;
  client.socket.destroy();
  return rest;
}

/** Sends bytes, and is gone. */
async function goneAfter(socket: Socket, bytes: Uint8Array): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  if (bytes.length > 0) await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  if (socket.remotePort === undefined) socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

it("goes on when a client is gone after any byte of a message", async () => {
  const path = scratch("gone.sock");
  const served = await Served.start(SWITCH, "--control", `unix:${path}`);
  const message = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "metrics", params: {} })}\n`);
  const before = await metricsBy(path);
  for (let n = 0; n <= message.length; n++) await goneAfter(await opened({ path }), message.subarray(0, n));
  // Answers that nobody reads.
  const many = Buffer.concat(Array.from({ length: 500 }, () => message));
  for (let n = 0; n < 5; n++) await goneAfter(await opened({ path }), many);
  expect(await metricsBy(path)).toEqual(before);
  await served.end();
});

it("takes the next peer of a stream wire after a reset at any byte of a frame", async () => {
  const to = await UdpPeer.open();
  const served = await Served.start(SWITCH, "--wire", "vm1=tcp-listen:127.0.0.1:0", "--wire", `vm2=${to.wire}`);
  const address = { port: await served.portOf("qp:vm1"), host: "127.0.0.1" };
  const frame = lengthened(frameOf(1, 2, "whole"));
  let whole = 0;
  for (let n = 0; n < frame.length; n++) {
    await goneAfter(await opened(address), frame.subarray(0, n));
    if (n % 8 !== 0) continue;
    // The wire has one peer at a time: until it knows that the last one is gone, it refuses the next.
    for (const socket = { now: await opened(address) }; ; socket.now = await opened(address)) {
      socket.now.write(frame);
      const refused = new Promise<true>((resolve) => socket.now.once("close", () => resolve(true)));
      if (await Promise.race([refused, to.frames(whole + 1).then(() => false)])) continue;
      await goneAfter(socket.now, new Uint8Array(0));
      break;
    }
    whole++;
  }
  expect(to.received.every((one) => one.equals(frameOf(1, 2, "whole")))).toBe(true);
  const { wires } = await served.end();
  expect([wires[0]?.framesIn, wires[1]?.framesOut]).toEqual([whole, whole]);
  to.close();
});
