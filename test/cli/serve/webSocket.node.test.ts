/** The control on a WebSocket: calls, who may connect, and limits. */
import { once } from "node:events";
import { connect } from "node:net";
import { WebSocket } from "ws";
import { expect, it } from "vitest";
import { flowsteer } from "../support/command.js";
import { Served, SWITCH } from "./support/served.js";

const MAX_LENGTH = 1000;

async function serve(...args: string[]): Promise<{ served: Served; url: string }> {
  const served = await Served.start(SWITCH, "--control", "ws:127.0.0.1:0", ...args);
  const { control } = (await served.line("ready")) as unknown as { control: string };
  return { served, url: control.replace("WebSocket ", "") };
}

/** Opens a socket. @returns it, or the HTTP status that refused it */
async function open(url: string, headers: Record<string, string> = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_, { statusCode = 0 }) => resolve(statusCode));
    socket.on("error", () => undefined);
  });
}

async function call(socket: WebSocket, text: string): Promise<Record<string, unknown>> {
  socket.send(text);
  const [answer] = (await once(socket, "message")) as [Buffer];
  return JSON.parse(answer.toString()) as Record<string, unknown>;
}

/** A call of this many bytes. */
function callOf(bytes: number): string {
  const [head, tail] = ['{"jsonrpc":"2.0","id":"', '","method":"counters"}'];
  return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

it("answers calls and notifies of events", async () => {
  const { served, url } = await serve();
  const socket = (await open(url)) as WebSocket;
  expect(await call(socket, callOf(100))).toMatchObject({ result: { counters: [{ name: "telnet", packets: 0 }] } });
  await call(socket, '{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"events":["ruleRemoved"]}}');
  const destroy = '{"jsonrpc":"2.0","method":"mlx5dv_dr_rule_destroy","params":{"rule":"out"}}';
  expect(await call(socket, destroy)).toMatchObject({ method: "event", params: { event: "ruleRemoved", rule: "out" } });
  const closed = once(socket, "close");
  await served.end();
  expect((await closed)[0]).toBe(1001);
});

it("takes messages up to the limit, and 16 connections", async () => {
  const { served, url } = await serve("--most-bytes", String(MAX_LENGTH));
  const socket = (await open(url)) as WebSocket;
  expect(await call(socket, callOf(MAX_LENGTH))).toHaveProperty("result");
  const others = await Promise.all(Array.from({ length: 15 }, () => open(url)));
  for (const one of others) expect(await call(one as WebSocket, callOf(100))).toHaveProperty("result");
  expect(await open(url)).toBe(503);
  const closed = once(socket, "close");
  socket.send(callOf(MAX_LENGTH + 1));
  // Message too big (RFC 6455, 7.4.1).
  expect((await closed)[0]).toBe(1009);
  expect(await open(url)).toBeInstanceOf(WebSocket);
  await served.end();
});

it("makes a peer wait that sends too much", async () => {
  const { served, url } = await serve("--most-requests", "50");
  const socket = (await open(url)) as WebSocket;
  const began = performance.now();
  let answers = 0;
  const done = new Promise<void>((resolve) =>
    socket.on("message", () => {
      if (++answers === 101) resolve();
    }),
  );
  for (let i = 0; i < 101; i++) socket.send(callOf(100));
  await done;
  // The 51st message waits for the second second, the 101st for the third.
  expect(performance.now() - began).toBeGreaterThan(1900);
  await served.end();
});

it("lets pages and other machines connect by the token only", async () => {
  const plain = await serve();
  expect(await open(plain.url, { Origin: "https://example.org" })).toBe(403);
  await plain.served.end();
  const { served, url } = await serve("--token", "secret");
  expect(await open(url)).toBe(401);
  expect(await open(`${url}/?token=wrong`)).toBe(401);
  expect(await open(url, { Authorization: "Bearer secret" })).toBeInstanceOf(WebSocket);
  expect(await open(`${url}/?token=secret`, { Origin: "https://example.org" })).toBeInstanceOf(WebSocket);
  const answer = await fetch(url.replace("ws:", "http:"));
  expect(answer.status).toBe(426);
  await served.end();
});

it("takes the token of the environment, which other users do not see", async () => {
  process.env["FLOWSTEER_TOKEN"] = "hidden";
  try {
    const { served, url } = await serve();
    expect(await open(url)).toBe(401);
    expect(await open(url, { Authorization: "Bearer hidden" })).toBeInstanceOf(WebSocket);
    await served.end();
  } finally {
    delete process.env["FLOWSTEER_TOKEN"];
  }
});

it("refuses an empty token, which everyone has", async () => {
  const args = ["serve", SWITCH, "--control", "ws:127.0.0.1:0"];
  expect(await flowsteer([...args, "--token", ""])).toMatchObject({ code: 2 });
  expect(await flowsteer(args, { env: { FLOWSTEER_TOKEN: "" } })).toEqual({
    code: 2,
    out: "",
    err: "flowsteer: FLOWSTEER_TOKEN: the variable is empty: unset it, or give it a token\n",
  });
});

it("refuses a request whose path is no URL, and goes on", async () => {
  const { served, url } = await serve("--token", "secret");
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write("GET // HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
  expect(await open(url, { Authorization: "Bearer secret" })).toBeInstanceOf(WebSocket);
  await served.end();
});

it.each([
  ["another address without a token", ["ws:0.0.0.0:0"], /0\.0\.0\.0 is not a loopback address; .*--token/],
  ["a name", ["ws:example.org:80"], /example\.org is not an IP address/],
  ["more than an address", ["ws:127.0.0.1:80/x"], /unexpected text after the address: \/x/],
])("refuses %s", async (_, [place = ""], message) => {
  const { code, err } = await flowsteer(["serve", SWITCH, "--control", place]);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});
