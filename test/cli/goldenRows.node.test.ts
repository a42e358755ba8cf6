/**
 * Rows of shipped examples as pyarrow and DuckDB read them (test/golden/rows.json, made by scripts/golden-rows.mjs): the files are the same,
 * byte by byte, and what was read there is what NDJSON says.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { flowsteer, root, scratch } from "./support/command.js";

type Cell = string | number | null | readonly string[];

/** What a tool has read: columns with their types, and rows. */
interface Read {
  schema: readonly string[];
  rows: readonly (readonly Cell[])[];
}

interface Case {
  operands: readonly string[];
  sha256: { parquet: string; csv: string };
  pyarrow: Read;
  duckdb: Read;
  csv: Read;
}

const CASES = JSON.parse(readFileSync(`${root}/test/golden/rows.json`, "utf8")) as Case[];
const NAMES = "frame time port length wire_length link_type verdict reason tag rules to copies".split(" ");

async function ran(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await flowsteer(["run", ...args]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

/** Rows of NDJSON; times as text, for they have more digits than numbers. */
async function lines(operands: readonly string[]): Promise<Cell[][]> {
  const out = await ran(...operands, "--format", "ndjson");
  const quoted = out.replaceAll(/"time":(\d+)/g, '"time":"$1"').trimEnd();
  return quoted.split("\n").map((line) => {
    const row = JSON.parse(line) as Record<string, Cell>;
    return NAMES.map((name) => row[name] ?? null);
  });
}

/** What CSV has of a cell: nothing where there is nothing. */
function text(cell: Cell): string | null {
  const joined = typeof cell === "object" && cell !== null ? cell.join(";") : cell;
  return joined === null || joined === "" ? null : String(joined);
}

describe.each(CASES)("$operands", ({ operands, sha256, pyarrow, duckdb, csv }) => {
  it("writes the files that were read", async () => {
    for (const format of ["parquet", "csv"] as const) {
      const path = scratch(`rows.${format}`);
      await ran(...operands, "--format", format, "--output", path);
      const found = createHash("sha256").update(readFileSync(path)).digest("hex");
      expect(found, "other bytes: make the golden file anew, see scripts/golden-rows.mjs").toBe(sha256[format]);
    }
  });

  it("says in them what it says in NDJSON", async () => {
    const rows = await lines(operands);
    expect(rows.length).toBeGreaterThan(5);
    expect(pyarrow.rows).toEqual(rows);
    expect(duckdb.rows).toEqual(rows);
    expect(csv.rows).toEqual(rows.map((row) => row.map(text)));
  });

  it("has columns of these types", () => {
    const list = "list<element: string not null> not null";
    const types = ["int64 not null", "timestamp[ns]", "int32", "int32 not null", "int64 not null"];
    types.push("int32 not null", "string not null", "string", "int64", list, list, list);
    expect(pyarrow.schema).toEqual(NAMES.map((name, n) => `${name}: ${types[n]}`));
    const sql =
      "BIGINT TIMESTAMP_NS INTEGER INTEGER BIGINT INTEGER VARCHAR VARCHAR BIGINT VARCHAR[] VARCHAR[] VARCHAR[]";
    expect(duckdb.schema).toEqual(NAMES.map((name, n) => `${name}: ${sql.split(" ")[n]}`));
    expect(csv.schema).toEqual(NAMES.map((name) => `${name}: VARCHAR`));
  });
});
