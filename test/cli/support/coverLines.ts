/** Runs `cover --json`, and holds its lines to the published schema. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type { CoverLine, CoverRuleLine, CoverSumLine } from "../../../src/cli/report/coverLines.js";
import { flowsteer, root } from "./command.js";

export const SCHEMA = join(root, "schema/cover-1.schema.json");

const judge = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(SCHEMA, "utf8")) as object,
);

/** The lines of a text. */
export function readLines(out: string): CoverLine[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => {
      const record = JSON.parse(line) as CoverLine;
      expect(judge(record), `${line}\n${JSON.stringify(judge.errors)}`).toBe(true);
      return record;
    });
}

export async function coverLinesOf(args: readonly string[]): Promise<CoverLine[]> {
  const { code, out, err } = await flowsteer(["cover", ...args, "--json", "--quiet"]);
  expect({ code, err }, args.join(" ")).toEqual({ code: 0, err: "" });
  return readLines(out);
}

/** The lines of rules by name. */
export function ruleLines(lines: readonly CoverLine[]): Map<string, CoverRuleLine> {
  return new Map(lines.flatMap((line) => (line.kind === "rule" ? [[line.rule.name, line] as const] : [])));
}

export function sumOf(lines: readonly CoverLine[]): CoverSumLine {
  const last = lines.at(-1);
  if (last?.kind !== "sum") throw new Error("no sum at the end");
  return last;
}
