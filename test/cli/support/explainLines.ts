/** Runs `trace` and `why`, and holds their lines of JSON to the published schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type { ExplainLine } from "../../../src/cli/report/explainLines.js";
import { flowsteer, root, type Surroundings } from "./command.js";

export const SCHEMA = join(root, "schema/explain-1.schema.json");

const judge = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(SCHEMA, "utf8")) as object,
);

/** The lines that a command prints with --json. */
export async function explainLines(args: readonly string[], more: Surroundings = {}): Promise<ExplainLine[]> {
  const { code, out, err } = await flowsteer([...args, "--json", "--quiet"], more);
  expect({ code, err }, args.join(" ")).toEqual({ code: 0, err: "" });
  const lines = out.trimEnd().split("\n");
  return lines.map((line) => {
    const record = JSON.parse(line) as ExplainLine;
    expect(judge(record), `${line}\n${JSON.stringify(judge.errors)}`).toBe(true);
    return record;
  });
}

type Kind<K extends ExplainLine["kind"]> = Extract<ExplainLine, { readonly kind: K }>;

/** The only line, of this kind. */
export async function explainLine<K extends ExplainLine["kind"]>(kind: K, args: readonly string[]): Promise<Kind<K>> {
  const lines = await explainLines(args);
  expect(lines.map((line) => line.kind)).toEqual([kind]);
  return lines[0] as Kind<K>;
}

/** The outcomes of frames, as `run --json` prints them. */
export async function outcomesOf(args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { out } = await flowsteer(["run", ...args, "--json", "--quiet"]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((record) => "verdict" in record);
}
