/** Linear memory that does not grow: at any size of it, what is refused says so, and what was there goes on. */
import { expect, test } from "vitest";
import release from "../../../build/release/core.wasm";
import { createDevice, SteeringError, type Device } from "../../../src/index.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { withPages } from "../../support/smallMemory.js";
import { DEEP } from "../../support/tier.js";

/** With so many pages everything below succeeds. */
const ENOUGH = 24;
const STEP = DEEP ? 1 : 2;
const RULES = 3000;
const FRAMES = Array.from({ length: 3000 }, (_, n) => ipv4Frame({ dport: n, dst: [10, 0, 0, n % 12] }));

/** A document with so many rules. */
function documentOf(rules: number): object {
  return {
    flowsteer: 1,
    queues: [{ name: "web" }],
    tables: [{ name: "root", level: 0 }],
    rules: Array.from({ length: rules }, (_, n) => ({
      name: `rule ${n}`,
      table: "root",
      match: { "outer.tcp_dport": n },
      actions: [{ queue: "web" }],
    })),
  };
}

/** The error of a call, which is a refusal that memory is full; null for none. */
async function refusalOf(call: () => unknown): Promise<SteeringError | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (!(error instanceof SteeringError) || error.code !== "ENOMEM") throw error;
    return error;
  }
}

/** A core of so many pages; null if it is too small for any device. */
async function deviceOf(pages: number): Promise<Device | null> {
  try {
    return await createDevice({ core: withPages(release, pages) });
  } catch (error) {
    if (error instanceof RangeError || error instanceof WebAssembly.CompileError) return null;
    throw error;
  }
}

const PAGES = Array.from({ length: ENOUGH }, (_, n) => n + 1).filter((n) => n % STEP === 0 || n === ENOUGH);

test("a scenario is loaded or refused, and the device goes on", async () => {
  let [refused, loaded] = [0, 0];
  for (const pages of PAGES) {
    const device = await deviceOf(pages);
    if (device === null) continue;
    const refusal = await refusalOf(() => loadScenario(documentOf(RULES), {}, () => Promise.resolve(device)));
    if (refusal === null) loaded++;
    else {
      refused++;
      expect(refusal.call).toBe("loadScenario");
    }
    // A frame is steered, or refused by name where not even one has memory.
    const first = await refusalOf(() => expect(device.receive(1, FRAMES[0]!).verdict).toMatch(/deliver|miss|drop/));
    if (first !== null) expect(first.call).toMatch(/^device\./);
    device.users = 0;
    device.close();
  }
  expect(refused).toBeGreaterThan(0);
  expect(loaded).toBeGreaterThan(0);
});

test("a batch and a burst are steered or refused, and rules and frames go on", async () => {
  let [refused, steered] = [0, 0];
  for (const pages of PAGES) {
    const device = await deviceOf(pages);
    if (device === null) continue;
    let loaded: LoadedScenario | null = null;
    if (
      (await refusalOf(
        async () => (loaded = await loadScenario(documentOf(20), {}, () => Promise.resolve(device))),
      )) !== null
    )
      continue;
    const { rules } = loaded as unknown as LoadedScenario;
    const one = (): string => String(device.receive(1, FRAMES[0]!).to.map(({ name }) => name));
    const before = one();
    const used = device.memoryUsed;
    for (const work of [() => device.receiveBatch(1, FRAMES), () => device.openBurst()]) {
      const refusal = await refusalOf(work);
      if (refusal === null) steered++;
      else {
        refused++;
        expect(refusal.call).toMatch(/^(device|burst)\./);
        expect(device.memoryUsed).toBe(used);
      }
      expect(one()).toBe(before);
    }
    for (const rule of rules.values()) rule.destroy();
    expect(one()).toBe("");
  }
  expect(refused).toBeGreaterThan(0);
  expect(steered).toBeGreaterThan(0);
});
