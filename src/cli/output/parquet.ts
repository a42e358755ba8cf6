/** Writes rows as Apache Parquet, group by group, so that memory does not grow with the file. */
import type { SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { outcomeNames } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import type { Output } from "./output.js";
import type { COLUMNS, RowEnd, RowFile, RowFrame } from "../../run/index.js";

type Column = (typeof COLUMNS)[number];

/** Rows of a group; the last may have fewer. */
const GROUP = 65536;
/** The range of signed 64-bit nanoseconds since 1970: years 1677 to 2262. */
const FIRST_TIME = -(2n ** 63n);
const LAST_TIME = 2n ** 63n - 1n;

const REQUIRED = { repetition_type: "REQUIRED" } as const;
const OPTIONAL = { repetition_type: "OPTIONAL" } as const;
const STRING = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } } as const;
/**
 * UTC. SPEC: not marked as UTC, since DuckDB keeps microseconds of instants and nanoseconds of
 * plain timestamps.
 */
const TIME = {
  type: "INT64",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" },
} as const;

/** A list as the format defines it: https://parquet.apache.org, LogicalTypes, Lists. */
function listOf(name: string): SchemaElement[] {
  return [
    { name, ...REQUIRED, num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", ...REQUIRED, ...STRING },
  ];
}

const SCHEMA: Readonly<Record<Column, readonly SchemaElement[]>> = {
  frame: [{ name: "frame", ...REQUIRED, type: "INT64" }],
  time: [{ name: "time", ...OPTIONAL, ...TIME }],
  port: [{ name: "port", ...OPTIONAL, type: "INT32" }],
  length: [{ name: "length", ...REQUIRED, type: "INT32" }],
  wire_length: [{ name: "wire_length", ...REQUIRED, type: "INT64" }],
  link_type: [{ name: "link_type", ...REQUIRED, type: "INT32" }],
  verdict: [{ name: "verdict", ...REQUIRED, ...STRING }],
  reason: [{ name: "reason", ...OPTIONAL, ...STRING }],
  tag: [{ name: "tag", ...OPTIONAL, type: "INT64" }],
  rules: listOf("rules"),
  to: listOf("to"),
  copies: listOf("copies"),
};

export class ParquetRows implements RowFile {
  readonly #output: Output;
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #columns = Object.fromEntries(Object.keys(SCHEMA).map((name) => [name, []])) as unknown as Record<
    Column,
    unknown[]
  >;

  constructor(output: Output) {
    this.#output = output;
    const root = { name: "root", num_children: Object.keys(SCHEMA).length };
    const schema = [root, ...Object.values(SCHEMA).flat()];
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema, createdBy: "flowsteer" });
  }

  endOf(outcome: Outcome): RowEnd {
    return { names: outcomeNames(outcome), before: "", after: "" };
  }

  add(frame: RowFrame, tag: number | null, { names }: RowEnd): boolean {
    const columns = this.#columns;
    columns.frame.push(BigInt(frame.number));
    columns.time.push(frame.time === null ? null : inFile(frame.time));
    columns.port.push(frame.port);
    columns.length.push(frame.length);
    columns.wire_length.push(BigInt(frame.wireLength));
    columns.link_type.push(frame.linkType);
    columns.verdict.push(names.verdict);
    columns.reason.push(names.reason);
    columns.tag.push(tag === null ? null : BigInt(tag));
    columns.rules.push(names.rules);
    columns.to.push(names.to);
    columns.copies.push(names.copies);
    return columns.frame.length >= GROUP;
  }

  async flush(): Promise<void> {
    const columnData = Object.entries(this.#columns).map(([name, data]) => ({ name, data }));
    if (this.#columns.frame.length > 0) void this.#writer.write({ columnData, rowGroupSize: Infinity });
    for (const { data } of columnData) data.length = 0;
    await this.#take();
  }

  async end(partial: string | null): Promise<void> {
    await this.flush();
    if (partial !== null) this.#writer.kvMetadata = [{ key: "flowsteer.partial", value: partial }];
    void this.#writer.finish();
    await this.#take();
    await this.#output.end();
  }

  /** Writes the finished bytes. */
  async #take(): Promise<void> {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    if (bytes.length > 0) await this.#output.writeBytes(bytes);
  }
}

/** The time, or the nearest one that the format can hold. */
function inFile(time: bigint): bigint {
  return time < FIRST_TIME ? FIRST_TIME : time > LAST_TIME ? LAST_TIME : time;
}
