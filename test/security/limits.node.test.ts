/** Limits of docs/security.md at their edges: the last that is taken, and the first that is not. */
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { MAX_FRAME } from "../../src/abi/engine.js";
import { createDevice, SteeringError } from "../../src/index.js";
import { converse } from "../../src/cli/control/connection.js";
import { Sessions } from "../../src/cli/control/sessions.js";
import { methodsOf } from "../../src/cli/control/methods.js";
import { LinePeer } from "../../src/cli/control/peer.js";
import { RpcServer } from "../../src/cli/control/rpc.js";
import { Switchboard } from "../../src/cli/serve/switchboard.js";
import { loadScenario, parseScenario } from "../../src/scenario/index.js";
import { refused } from "../mlx5dv/support/directRules.js";

const SCENARIO = { flowsteer: 1, queues: [{ name: "a" }], tables: [{ name: "root", level: 0 }] } as const;

test(`a frame has ${MAX_FRAME} bytes`, async () => {
  const device = await createDevice();
  expect(device.receive(1, new Uint8Array(MAX_FRAME)).verdict).toBe("miss");
  expect(refused(() => device.receive(1, new Uint8Array(MAX_FRAME + 1)))?.code).toBe("EINVAL");
});

test("a scenario has 64 levels", () => {
  const text = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const messageOf = (levels: number): string => refused(() => parseScenario(text(levels)))?.message ?? "";
  expect(messageOf(64)).not.toContain("levels deep");
  expect(messageOf(65)).toContain("at most 64 levels deep");
});

test("a device has the memory that it is given, and works when it is used up", async () => {
  const device = await createDevice({ limits: { memory: 1_000_000 } });
  const rule = { application: "tc", priority: 1, match: {}, action: "drop" } as const;
  let made = 0;
  const error = refused(() => {
    for (; ; made++)
      device.hostRules.add({
        ...rule,
        match: { "outer.ipv4_dst": `10.${made >> 16}.${(made >> 8) & 255}.${made & 255}` },
      });
  });
  expect(error).toMatchObject({ code: "ENOMEM" });
  expect(made).toBeGreaterThan(1000);
  expect(device.memoryUsed).toBeLessThanOrEqual(1_000_000);
  expect(device.receive(1, new Uint8Array(60)).verdict).toBe("miss");
});

describe("the control", () => {
  const open = async (): Promise<Switchboard> => new Switchboard(await loadScenario(SCENARIO), []);
  const methodsFor = async (board: Switchboard) =>
    methodsOf(board, (await Sessions.open(board.loaded)).begin().methods());
  const call = (id: number): object => ({ jsonrpc: "2.0", id, method: "counters" });

  test("takes messages of 64 levels", async () => {
    const server = new RpcServer(() => () => Promise.resolve({}));
    const answerTo = async (levels: number): Promise<unknown> => {
      const call = { jsonrpc: "2.0", id: 1, method: "counters", params: { a: "value" } };
      const value = "[".repeat(levels - 2) + "]".repeat(levels - 2);
      return JSON.parse((await server.answer(JSON.stringify(call).replace('"value"', value))) ?? "");
    };
    expect(await answerTo(64)).toMatchObject({ result: {} });
    expect(await answerTo(65)).toMatchObject({ error: { code: -32700 } });
  });

  test("takes 64 calls in a batch", async () => {
    const methods = await methodsFor(await open());
    const server = new RpcServer((name) => methods.get(name));
    const batch = (size: number): Promise<string | null> =>
      server.answer(JSON.stringify(Array.from({ length: size }, (_, n) => call(n))));
    expect(JSON.parse((await batch(64)) ?? "")).toHaveLength(64);
    expect(JSON.parse((await batch(65)) ?? "")).toMatchObject({ error: { message: "a batch has 1 to 64 calls" } });
    expect(JSON.parse((await batch(0)) ?? "")).toMatchObject({ error: { message: "a batch has 1 to 64 calls" } });
  });

  test("takes a message of as many bytes as it may have, and ends the connection after a longer one", async () => {
    const most = 200;
    const answers = async (length: number): Promise<string> => {
      const board = await open();
      const [from, to] = [new PassThrough(), new PassThrough()];
      const line = JSON.stringify(call(1)).padEnd(length, " ");
      from.end(`${line}\n${JSON.stringify(call(2))}\n`);
      await converse(board, await Sessions.open(board.loaded), new LinePeer(from, to), { message: most, rate: 100 });
      board.end();
      return String(to.read() ?? "");
    };
    const good = (await answers(most)).trim().split("\n");
    expect(good.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2]);
    const bad = (await answers(most + 1)).trim().split("\n");
    expect(bad).toHaveLength(1);
    expect(bad[0]).toContain(`a message has at most ${most} bytes`);
  });
});

test("whatever is thrown is a refusal", () => {
  expect(refused(() => parseScenario("[".repeat(1_000_000)))).toBeInstanceOf(SteeringError);
});
