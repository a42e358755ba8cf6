/** flowsteer run --format parquet, read by a library of its own. */
import { readFileSync } from "node:fs";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type FileMetaData } from "hyparquet";
import { describe, expect, it } from "vitest";
import { ParquetRows } from "../../src/cli/output/parquet.js";
import { Output } from "../../src/cli/output/output.js";
import type { RowEnd } from "../../src/run/rows.js";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { WEB_FRAME, withRules } from "../scenario/support/documents.js";
import { flowsteer, scratch } from "./support/command.js";

type Row = Record<string, unknown>;

async function rowsOf(path: string): Promise<{ rows: Row[]; metadata: FileMetaData }> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const parsers = { timestampFromNanoseconds: (nanoseconds: bigint) => nanoseconds };
  return { rows: await parquetReadObjects({ file, parsers: parsers }), metadata };
}

async function written(...args: string[]): Promise<{ rows: Row[]; metadata: FileMetaData }> {
  const path = scratch("rows.parquet");
  const ended = await flowsteer(["run", ...args, "--format", "parquet", "--output", path]);
  expect(ended).toEqual({ code: 0, out: "", err: "" });
  return rowsOf(path);
}

/** Rows of NDJSON, with times to the nanosecond. */
async function lines(...args: string[]): Promise<Row[]> {
  const { out } = await flowsteer(["run", ...args, "--format", "ndjson"]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => ({ ...JSON.parse(line), time: BigInt(/"time":(\d+)/.exec(line)![1]!) }));
}

/** 64-bit columns are bigints, in NDJSON numbers. */
function plain(row: Row): Row {
  const { frame, wire_length, tag } = row;
  return { ...row, frame: Number(frame), wire_length: Number(wire_length), tag: tag === null ? null : Number(tag) };
}

describe("--format parquet", () => {
  it.each([
    ["examples/everyday.json", "examples/everyday.pcap"],
    ["examples/flows-copies.json"],
    ["examples/ports.json"],
  ])("%s %s: has the rows of NDJSON", async (...operands) => {
    const { rows, metadata } = await written(...operands);
    const wanted = await lines(...operands);
    expect(rows.map(plain)).toEqual(wanted);
    expect(Number(metadata.num_rows)).toBe(wanted.length);
  });

  it("says what its columns are", async () => {
    const { metadata } = await written("examples/everyday.json", "examples/everyday.pcap");
    const column = (name: string): object => metadata.schema.find((element) => element.name === name)!;
    expect(column("time")).toMatchObject({
      type: "INT64",
      repetition_type: "OPTIONAL",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" },
    });
    expect(column("reason")).toMatchObject({ type: "BYTE_ARRAY", repetition_type: "OPTIONAL", converted_type: "UTF8" });
    expect(column("rules")).toMatchObject({ num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } });
    expect(metadata.key_value_metadata).toBeUndefined();
  });

  it("goes to standard output, too, and may have no rows", async () => {
    const path = scratch("none.parquet");
    await flowsteer([
      "run",
      "examples/everyday.json",
      "examples/everyday.pcap",
      "--limit",
      "0",
      "--format",
      "parquet",
      "--output",
      path,
    ]);
    expect((await rowsOf(path)).rows).toEqual([]);
    const { out, code } = await flowsteer([
      "run",
      "examples/everyday.json",
      "examples/everyday.pcap",
      "--format",
      "parquet",
    ]);
    expect({ code, begin: out.slice(0, 4), end: out.slice(-4) }).toEqual({ code: 0, begin: "PAR1", end: "PAR1" });
  });

  it("holds times that it has no room for to the nearest that it has, and leaves out the port of what is sent", async () => {
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1, nanoseconds: true }] });
    const frame = writer.frame({ time: 2n ** 64n - 1n, bytes: new Uint8Array(60) });
    const capture = scratch("late.pcapng", Buffer.concat([writer.header(), frame]));
    const scenario = scratch("plain.json", JSON.stringify(withRules()));
    expect((await written(scenario, capture)).rows[0]).toMatchObject({ time: 2n ** 63n - 1n, port: 1 });
    const sent = { ...withRules(), frames: [{ hex: WEB_FRAME, send: "web" }] };
    expect((await written(scratch("sent.json", JSON.stringify(sent)))).rows[0]).toMatchObject({
      port: null,
      tag: null,
    });
  });

  it("writes group by group, and says of a run that was interrupted that it was", async () => {
    const chunks: Uint8Array[] = [];
    const output = new (class extends Output {
      override async writeBytes(bytes: string | Uint8Array): Promise<void> {
        chunks.push(bytes as Uint8Array);
      }
    })();
    const rows = new ParquetRows(output);
    const names = { verdict: "miss", reason: "no_rule", rules: [], to: [], copies: [] } as unknown as RowEnd["names"];
    const frame = { time: 0n, port: 1, length: 60, wireLength: 60, linkType: 1 };
    const total = 150_000;
    for (let number = 1; number <= total; number++) {
      if (rows.add({ ...frame, number }, null, { names, before: "", after: "" })) await rows.flush();
    }
    expect(chunks.length).toBe(2);
    await rows.end("SIGINT");
    const path = scratch("groups.parquet", Buffer.concat(chunks));
    const { rows: read, metadata } = await rowsOf(path);
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([65536, 65536, total - 2 * 65536]);
    expect(metadata.key_value_metadata).toEqual([{ key: "flowsteer.partial", value: "SIGINT" }]);
    expect(read.map(({ frame }) => Number(frame))).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    expect(readFileSync(path).subarray(-4).toString()).toBe("PAR1");
  });
});
