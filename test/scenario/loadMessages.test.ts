/** Connected queues and messages of scenarios: what arrives, what their senders are told, which rules see their packets. */
import { describe, expect, it } from "vitest";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";
import { refusal as refusalOf } from "./support/scenarios.js";

const LONG = "ab".repeat(600);

/** Queues a and b that are connected. */
const pair = (type: string, a: object = {}, b: object = {}): object[] => [
  { name: "a", type, peer: "b", buffers: 2, ...a },
  { name: "b", type, peer: "a", buffers: 2, ...b },
];

async function run(document: object): Promise<LoadedScenario> {
  const loaded = await loadScenario({ flowsteer: 1, ...document });
  expect(loaded.messages).toEqual([]);
  loaded.run([]);
  expect(loaded.disagreements).toEqual([]);
  return loaded;
}

const refusal = (document: object): Promise<string> => refusalOf({ flowsteer: 1, ...document });

const good = (hex: string, imm_data: number | null = null): object => ({ status: "success", hex, imm_data });

describe.each(["rc", "uc"])("messages of %s", (type) => {
  it.each([
    ["on one port", {}, {}, {}],
    ["over a cable", { device: { ports: 2 }, connect: [{ port: 1, to: 2 }] }, {}, { port: 2 }],
    ["in short packets", {}, { path_mtu: 256 }, { path_mtu: 256 }],
  ])("arrive %s, both ways", async (_, more, a, b) => {
    const messages = [
      { queue: "a", hex: LONG },
      { queue: "b", base64: "BAUG", imm_data: 0xffff_ffff },
      { queue: "a", hex: "" },
    ];
    const loaded = await run({ ...more, queues: pair(type, a, b), messages });
    expect(loaded.messages).toEqual([
      { message: 1, queue: "a", len: 600, status: "success", received: good(LONG) },
      { message: 2, queue: "b", len: 3, status: "success", received: good("040506", 0xffff_ffff) },
      { message: 3, queue: "a", len: 0, status: "success", received: good("") },
    ]);
    loaded.run([]);
    expect(loaded.messages).toHaveLength(3);
  });

  it("come in as many packets as the path wants, which RDMA tables count", async () => {
    const flow = { name: "roce", ft_type: "rdma_rx", priority: 0, actions: [{ count: "hits" }, "default_miss"] };
    const document = {
      queues: pair(type, { path_mtu: 256 }, { path_mtu: 256 }),
      counters: [{ name: "hits" }],
      deviceFlows: [{ ...flow, match: { "misc.bth_opcode": type === "rc" ? "0x00/0xf0" : "0x20/0xf0" } }],
      messages: [{ queue: "a", hex: LONG }],
      expect: { messages: [{ message: 1, status: "success", received: { hex: LONG } }] },
    };
    const loaded = await run(document);
    expect(loaded.failures()).toEqual([]);
    // FIRST, MIDDLE, LAST; acknowledgements of RC have the opcode 0x11.
    expect(loaded.counters.get("hits")?.read().packets).toBe(3n);
    expect(loaded.tally.all.frames).toBe(0);
  });

  it("are lost where a rule drops them, of which senders of RC are told", async () => {
    const drop = { name: "drop", ft_type: "rdma_rx", priority: 0, actions: ["drop"] };
    const loaded = await run({ queues: pair(type), deviceFlows: [drop], messages: [{ queue: "a", hex: "01" }] });
    const status = type === "rc" ? "retry_exc_err" : "success";
    expect(loaded.messages).toEqual([{ message: 1, queue: "a", len: 1, status, received: null }]);
  });

  it("find no receive request behind the last one", async () => {
    const messages = [1, 2].map((n) => ({ queue: "a", hex: `0${n}` }));
    const loaded = await run({ queues: pair(type, {}, { buffers: 1 }), messages });
    const status = type === "rc" ? "rnr_retry_exc_err" : "success";
    expect(loaded.messages).toMatchObject([{ received: good("01") }, { status, received: null }]);
  });

  it("are longer than the request", async () => {
    const queues = pair(type, {}, { bufferSize: 2 });
    const loaded = await run({ queues, messages: [{ queue: "a", hex: "010203" }] });
    const status = type === "rc" ? "rem_inv_req_err" : "success";
    const received = { status: "loc_len_err", hex: "", imm_data: null };
    expect(loaded.messages).toEqual([{ message: 1, queue: "a", len: 3, status, received }]);
  });

  it.each(["reset", "init", "err"])("find a peer in %s", async (state) => {
    const loaded = await run({ queues: pair(type, {}, { state }), messages: [{ queue: "a", hex: "01" }] });
    expect(loaded.messages).toMatchObject([{ status: type === "rc" ? "retry_exc_err" : "success", received: null }]);
  });

  it("find a peer in rtr, and are flushed in err", async () => {
    const messages = [{ queue: "a", hex: "01" }];
    const ready = await run({ queues: pair(type, {}, { state: "rtr" }), messages });
    expect(ready.messages).toMatchObject([{ status: "success", received: good("01") }]);
    const failed = await run({ queues: pair(type, { state: "err" }), messages });
    expect(failed.messages).toMatchObject([{ status: "wr_flush_err", received: null }]);
  });

  it("come to sniffers with receive buffers, and no outcome is missed", async () => {
    const document = {
      queues: [...pair(type), { name: "tap", buffers: 8 }],
      flows: [{ queue: "tap", type: "sniffer" }],
      messages: [{ queue: "a", hex: "01" }],
    };
    const { queues } = await run(document);
    expect(queues.get("tap")?.buffers?.completed).toBe(type === "rc" ? 2 : 1);
  });
});

describe("expectations of messages", () => {
  it("tell what came instead, and what was not sent", async () => {
    const document = {
      queues: pair("rc"),
      messages: [{ name: "hello", queue: "a", hex: "01", imm_data: 5 }],
      expect: {
        messages: [
          { message: "hello", status: "rem_op_err", received: { status: "loc_len_err", hex: "02 03", imm_data: null } },
          { message: 1, received: null },
        ],
      },
    };
    const loaded = await loadScenario({ flowsteer: 1, ...document });
    const about = 'message "hello"';
    const missing = { about, what: "message", expected: "a message", got: "none was sent" };
    expect(loaded.failures()).toEqual([
      { path: "expect.messages[0]", ...missing },
      { path: "expect.messages[1]", ...missing, about: "message 1" },
    ]);
    loaded.run();
    const path = "expect.messages[0].received";
    expect(loaded.failures()).toEqual([
      { path: "expect.messages[0].status", about, what: "status", expected: "rem_op_err", got: "success" },
      { path: `${path}.status`, about, what: "received status", expected: "loc_len_err", got: "success" },
      { path: `${path}.hex`, about, what: "bytes", expected: "0203", got: "01" },
      { path: `${path}.imm_data`, about, what: "imm_data", expected: null, got: 5 },
      {
        path: "expect.messages[1].received",
        about: "message 1",
        what: "received",
        expected: "nothing",
        got: "a completion",
      },
    ]);
  });

  it("tell that nothing arrived", async () => {
    const document = {
      queues: pair("uc", {}, { state: "init" }),
      messages: [{ queue: "a", hex: "01" }],
      expect: { messages: [{ message: 1, received: {} }] },
    };
    const loaded = await run(document);
    expect(loaded.failures()).toMatchObject([{ what: "received", expected: "a completion", got: "nothing" }]);
  });
});

describe("what the model refuses of connected queues", () => {
  it.each([
    [{ flows: [{ queue: "a" }] }, /^loadScenario: flows\[0\]\.queue = /],
    [
      { deviceFlows: [{ name: "f", priority: 0, actions: [{ queue: "a" }] }] },
      /^loadScenario: deviceFlows\[0\]\.actions\[0\]\.queue = /,
    ],
    [{ tirs: [{ name: "t", queue: "a" }] }, /^loadScenario: tirs\[0\]\.queue = /],
  ])("has its place: %j", async (more, message) => {
    expect(await refusal({ queues: pair("rc"), ...more })).toMatch(message);
  });

  it("has its place: memory of buffers", async () => {
    const queues = pair("rc", {}, { buffers: 32768, bufferSize: 65536 });
    expect(await refusal({ queues })).toMatch(/^loadScenario: queues\[1\]\.bufferSize = 65536: .*ENOMEM/);
  });
});
