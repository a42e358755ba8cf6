/** What `flowsteer cover --out` writes of the examples passes `flowsteer run`, and follows the published schemas. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../src/scenario/index.js";
import { DEEP } from "../support/tier.js";
import { flowsteer, root, scratch } from "./support/command.js";
import { readLines, ruleLines, sumOf } from "./support/coverLines.js";

/** Switching, changes of headers, state, flows, queues that send, a tunnel. */
const SOME = ["rules-eswitch", "rules-router", "state-meter", "flows-sending", "tunnel"];
const ALL = readdirSync(join(root, "examples"))
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.replace(/\.json$/, ""));

const judge = new Ajv2020({ strict: true, strictRequired: false }).compile(
  JSON.parse(readFileSync(join(root, "schema/scenario-1.schema.json"), "utf8")) as object,
);

describe.each(DEEP ? ALL : SOME)("examples/%s.json", (name) => {
  it("has witnesses whose scenarios pass", async () => {
    const folder = scratch(`covered-${name}`);
    const { code, out, err } = await flowsteer([
      "cover",
      `examples/${name}.json`,
      "--out",
      folder,
      "--json",
      "--quiet",
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = readLines(out);
    expect(sumOf(lines).rules.live).toBeGreaterThan(0);
    const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
    expect(files).toContain("cover.json");
    const named = new Set<string>();
    for (const file of files) {
      const document = JSON.parse(readFileSync(join(folder, file), "utf8")) as Scenario;
      expect(judge(document), `${file}\n${JSON.stringify(judge.errors)}`).toBe(true);
      for (const { frame } of document.expect?.frames ?? []) named.add(String(frame));
      const run = await flowsteer(["run", join(folder, file)]);
      expect({ code: run.code, err: run.err }, file).toEqual({ code: 0, err: "" });
      expect(run.out).toContain("All expectations are met.");
    }
    const live = [...ruleLines(lines).values()].filter(({ answer }) => answer.status === "live");
    expect(
      live.map(({ rule }) => rule.name).filter((rule) => ![...named].some((frame) => frame.includes(rule))),
    ).toEqual([]);
  });
});
