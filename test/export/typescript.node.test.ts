/** Exported TypeScript programs make devices that treat frames as the scenario does. */
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import * as flowsteer from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import * as ib from "../../src/verbs/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";
import { behaviourOf } from "./support/behaviour.js";
import { nearFrame, randomRules } from "./support/randomRules.js";

const FRAMES = 60;

/** Runs a program that imports the package; its exports are the result. */
async function run(program: string): Promise<{ device: flowsteer.Device }> {
  const { code } = await transform(program, { loader: "ts", format: "esm", target: "es2022" });
  const names = [...code.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const listed = [...code.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").map((one) => one.trim()),
  );
  const body = code
    .replaceAll(/^import \{([^}]*)\} from "flowsteer";$/gm, "const {$1} = flowsteer;")
    .replaceAll(/^import .*$/gm, "")
    .replaceAll(/^export \{[^}]*\};$/gm, "")
    .replaceAll(/^export /gm, "");
  const all = [...names, ...listed].filter((name) => name !== undefined && name !== "").join(", ");
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const made = new Function("flowsteer", "dv", "ib", `return (async () => { ${body}\nreturn { ${all} }; })();`) as (
    ...parts: unknown[]
  ) => Promise<{ device: flowsteer.Device }>;
  return made(flowsteer, dv, ib);
}

test("a program does what its scenario does", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("exported TypeScript"));
  let delivered = 0;
  for (let round = 0; round < rounds(60); round++) {
    const scenario = randomRules(random);
    const { text, findings } = exportRules(scenario, { format: "typescript" });
    expect(findings).toEqual([]);
    const { device } = await run(text ?? "");
    const { device: original } = await loadScenario(scenario);
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(original, frame);
      expect(behaviourOf(device, frame), JSON.stringify(scenario)).toBe(expected);
      if (expected.startsWith('["deliver"')) delivered++;
    }
  }
  expect(delivered).toBeGreaterThan(rounds(60) * FRAMES * 0.1);
});

test("what a program cannot have is refused with its place", () => {
  const { text, findings } = exportRules(
    {
      flowsteer: 1,
      queues: [{ name: "q" }],
      tables: [{ name: "root", level: 0 }],
      rules: [
        { name: "any", table: "root", match: { "outer.udp_dport": "any" }, actions: [{ queue: "q" }] },
        { name: "rss", table: "root", priority: 1, actions: [{ tir: "t" }] },
      ],
      tirs: [{ name: "t", queue: "q" }],
    },
    { format: "typescript" },
  );
  expect(text).toBeNull();
  expect(findings.map(({ path }) => path)).toEqual(["tirs", "rules[0].match", "rules[1].actions[0]"]);
});
