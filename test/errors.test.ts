/** Refusals take the name of the first call that they pass, and every call of the host API gives them one. */
import { expect, test } from "vitest";
import { wrongType } from "../src/base/checks.js";
import { inAsyncCall, inCall, refuse, refusalText, SteeringError } from "../src/errors.js";
import * as explain from "../src/explain/index.js";
import * as exporting from "../src/export/index.js";
import * as importing from "../src/import/index.js";
import * as fabrics from "../src/fabric/index.js";
import * as host from "../src/index.js";
import * as packet from "../src/packet/index.js";
import * as scenario from "../src/scenario/index.js";
import * as snapshot from "../src/snapshot/index.js";
import { ibv_open_device } from "../src/verbs/index.js";
import { WRONG } from "./support/wrongTypes.js";

const REFUSAL = { code: "EINVAL", reason: "out_of_range", path: "at", value: 7, hint: "0 to 3" } as const;

function thrown(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

const V8 = new Error("here").stack?.includes("here") === true;

/** The message where the stack of this engine begins with it. */
const stackOf = (error: Error): string | undefined =>
  V8 ? error.stack?.split("\n    at ", 1)[0]?.replace(/^\w+: /, "") : error.message;

test("a refusal takes the name of its call: as field, in the message, the stack and as JSON", () => {
  const error = thrown(() => inCall("outer", () => refuse(REFUSAL)));
  if (!(error instanceof SteeringError)) throw error;
  const message = "outer: at = 7: outside the range that the field can hold (EINVAL); 0 to 3";
  expect(error).toMatchObject({ ...REFUSAL, call: "outer", message, errno: 22 });
  expect(stackOf(error)).toBe(message);
  expect(refusalText(error)).toBe(message);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ call: "outer", message });
  const made = new SteeringError({ ...REFUSAL, call: "outer" });
  expect(Object.keys(error)).toEqual(Object.keys(made));
  expect(Object.getOwnPropertyDescriptor(error, "message")?.enumerable).toBe(false);
});

test("the error of a wrong type takes the name of its call", () => {
  const error = thrown(() => inCall("outer", () => wrongType("at", "a number", "7")));
  expect(error).toBeInstanceOf(TypeError);
  expect([error.message, stackOf(error)]).toEqual(Array(2).fill("outer: at must be a number, not string"));
});

test.each([() => refuse(REFUSAL), () => wrongType("at", "a number", "7")])("the innermost call names it", (refused) => {
  const error = thrown(() => inCall("outer", () => inCall("inner", refused)));
  expect(error.message).toMatch(/^inner: at/);
  expect(stackOf(error)).toBe(error.message);
});

test("errors of others and refusals with a name pass", () => {
  const own = new TypeError(": no name");
  const fail = (): never => {
    throw own;
  };
  expect(thrown(() => inCall("outer", fail))).toBe(own);
  expect(own.message).toBe(": no name");
  expect(thrown(() => inCall("outer", () => refuse({ ...REFUSAL, call: "inner" })))).toMatchObject({ call: "inner" });
});

test("asynchronous calls name their refusals", async () => {
  const late = inAsyncCall("outer", async () => {
    await Promise.resolve();
    return refuse(REFUSAL);
  });
  await expect(late).rejects.toMatchObject({
    call: "outer",
    message: expect.stringMatching(/^outer: at = 7/) as string,
  });
  expect(await inAsyncCall("outer", () => Promise.resolve(7))).toBe(7);
});

test("a refusal of a call that a listener makes keeps its name", async () => {
  const device = await host.createDevice({ ports: 2 });
  device.connect(1, () => device.receive(9, new Uint8Array(60)));
  const sink = host.createSink(ibv_open_device(device), "sink");
  expect(thrown(() => device.send(sink, new Uint8Array(60)))).toMatchObject({ call: "receive" });
});

const FRAME = new Uint8Array(60);
const METHODS: Readonly<Record<string, readonly string[]>> = {
  device:
    "advance advanceTo cableCounters connect countHits destinationName disconnect function on parseBatch parseHeaders receive receiveBatch send".split(
      " ",
    ),
  burst: "add addRows outcome put stamp steer".split(" "),
  hostRules: ["add"],
  fabric: "device advanceTo advance add remove connect disconnect capture".split(" "),
};

test("no call of the host API throws a refusal without a name", async () => {
  const device = await host.createDevice();
  const loaded = await scenario.loadScenario({ flowsteer: 1 });
  const fabric = await fabrics.createFabric();
  const objects: Readonly<Record<string, object>> = {
    device,
    fabric,
    burst: device.openBurst(),
    hostRules: device.hostRules,
  };
  const modules = { host, scenario, explain, importing, exporting, fabrics, snapshot, packet };
  const functions = [
    ...Object.entries(modules).flatMap(([of, module]) =>
      Object.entries(module)
        .filter(
          ([, member]) => typeof member === "function" && !/^class\b/.test(Function.prototype.toString.call(member)),
        )
        .map(([name, run]) => [`${of}, ${name}`, undefined, run as unknown as Run] as const),
    ),
    ...Object.entries(METHODS).flatMap(([of, names]) =>
      names.map((name) => [`${of}.${name}`, objects[of], Reflect.get(objects[of]!, name) as Run] as const),
    ),
  ];
  const [unnamed, refused] = [[] as string[], new Set<string>()];
  for (const [name, self, run] of functions) {
    for (const [what, wrong] of Object.entries(WRONG)) {
      const lists = [[], [device], [device, 1], [loaded], ["{}"], [1], [1, FRAME], [device, 1, FRAME]];
      for (const list of lists) {
        const error = await errorOf(() => run.call(self, ...list, wrong()));
        if (error instanceof SteeringError) refused.add(name);
        if (error instanceof SteeringError ? error.call === "" : error?.message.startsWith(": ") === true)
          unnamed.push(`${name} with ${list.length} arguments and ${what}: ${error?.message}`);
      }
    }
  }
  expect(unnamed).toEqual([]);
  expect(refused.size).toBeGreaterThan(20);
});

type Run = (...args: readonly unknown[]) => unknown;

async function errorOf(run: () => unknown): Promise<Error | undefined> {
  try {
    await run();
  } catch (error) {
    return error as Error;
  }
  return undefined;
}
