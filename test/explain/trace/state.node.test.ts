/** Traces of ESP, RSS and identical flows: the state that frames would change, by name. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openTracer, type ActionStep, type Trace, type Tracer } from "../../../src/explain/index.js";
import type { Outcome } from "../../../src/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";

const load = (name: string): Promise<LoadedScenario> =>
  loadScenario(readFileSync(new URL(`../../../examples/${name}`, import.meta.url), "utf8"));

const actionsOf = ({ steps }: Trace, action: string): ActionStep[] =>
  steps.filter((step) => step.kind === "action").filter((step) => step.action === action);

describe("ESP", () => {
  const open = async (): Promise<{ tracer: Tracer; branch: QueuePair; clear: Uint8Array }> => {
    const { device, queues, frames } = await load("flows-esp.json");
    const branch = queues.get("branch")?.queue as QueuePair;
    return { tracer: await openTracer(device), branch, clear: frames[0]?.bytes as Uint8Array };
  };

  it("shows the association of a frame to encrypt", async () => {
    const { tracer, branch, clear } = await open();
    const [step] = actionsOf(tracer.traceSend(branch, clear), "esp");
    expect(step?.text).toBe("seal encrypts, SPI 4097");
    expect(step?.state).toEqual([
      {
        object: "association",
        name: "seal",
        values: [
          { value: "sequence number", before: "4294967294", after: "4294967295" },
          { value: "IV", before: "256", after: "257" },
          { value: "packets", before: "0", after: "1" },
        ],
      },
    ]);
    expect(step?.bytes.length).toBe(1);
    expect(step?.fields).toContainEqual({ field: "misc.outer_esp_spi", before: null, after: "0x00001001" });
  });

  it("shows association and replay window of a frame to decrypt, and the replay of the same frame", async () => {
    const { tracer, branch, clear } = await open();
    const sealed = (tracer.device.send(branch, clear) satisfies Outcome).to[0]?.frame as Uint8Array;
    // Another device opens it, whose window has not seen the frame.
    const peer = await openTracer((await load("flows-esp.json")).device);
    const fresh = peer.trace(2, sealed);
    const [step] = actionsOf(fresh, "esp");
    expect(step?.text).toBe("open decrypts, SPI 4097");
    expect(step?.state.map(({ object, name }) => `${object} ${name}`)).toEqual([
      "association open",
      "replay window open",
    ]);
    expect(fresh.outcome.verdict).toBe("deliver");
    expect(peer.trace(2, sealed, { commit: true }).outcome).toEqual(fresh.outcome);
    const again = peer.trace(2, sealed);
    expect(again.outcome).toMatchObject({ verdict: "drop", reason: "esp_replay" });
    expect(again.steps.at(-1)).toMatchObject({ kind: "end", verdict: "drop", reason: "esp_replay" });
  });
});

describe("RSS", () => {
  it("names the queue that the hash chose", async () => {
    const { device, frames } = await load("rss.json");
    const tracer = await openTracer(device);
    const chosen = new Set<string>();
    for (const { bytes } of frames) {
      const found = tracer.trace(1, bytes);
      for (const { text } of actionsOf(found, "rss")) {
        expect(text).toBe(`Toeplitz hash over 4 entries: ${found.outcome.to[0]?.name}`);
        chosen.add(text);
      }
    }
    expect(chosen.size).toBeGreaterThan(1);
  });
});

describe("flows", () => {
  it("names all identical flows, and counts of each", async () => {
    const queues = [{ name: "a" }, { name: "b" }];
    const counted = { points: [{ index: 0, counts: "packets" }] };
    const flowCounters = ["one", "two"].map((name) => ({ name, ...counted }));
    const specs = (counter: string): object[] => [{ tcp: { dst_port: 80 } }, { count: counter }];
    const flows = [
      { name: "first", queue: "a", specs: specs("one") },
      { name: "second", queue: "b", specs: specs("two") },
    ];
    const scenario = await loadScenario(JSON.stringify({ flowsteer: 1, queues, flowCounters, flows }));
    const tracer = await openTracer(scenario.device);
    const { frames } = await load("state-meter.json");
    const found = tracer.trace(1, frames[0]?.bytes as Uint8Array);
    const lookup = found.steps.find((step) => step.kind === "lookup");
    expect(lookup?.rule).toMatchObject({ kind: "flow", name: "first = second", matcher: null });
    expect(lookup?.rules).toBe(1);
    expect(actionsOf(found, "count").map(({ text }) => text)).toEqual(["one", "two"]);
    expect(found.outcome.rules).toEqual(["first", "second"]);
    expect(found.outcome.to.map(({ name }) => name)).toEqual(["qp:a", "qp:b"]);
  });
});
