/** flowsteer run --format: a row a frame. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { WEB_FRAME, withRules } from "../scenario/support/documents.js";
import { flowsteer, scratch, start } from "./support/command.js";

const SCENARIO = "examples/everyday.json";
const CAPTURE = "examples/everyday.pcap";
const COLUMNS = "frame,time,port,length,wire_length,link_type,verdict,reason,tag,rules,to,copies".split(",");

type Row = Record<string, string | number | null | string[] | undefined>;

function lines(text: string): Row[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** RFC 4180, section 2, by its grammar. */
function csv(text: string): string[][] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  const records: string[][] = [[]];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const [, quoted, plain = "", end] = field.exec(text) ?? [];
    if (end === undefined) throw new Error(`no field at ${at}`);
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") records.push([]);
  }
  expect(records.pop()).toEqual([]);
  return records;
}

/** What CSV has of a row. */
function cells(row: Row): string[] {
  return COLUMNS.map((name) => {
    const value = row[name];
    return value === null || value === undefined ? "" : Array.isArray(value) ? value.join(";") : String(value);
  });
}

async function ran(...args: string[]): Promise<string> {
  const { code, out, err } = await flowsteer(["run", ...args]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

describe("--format", () => {
  it.each([
    [SCENARIO, CAPTURE],
    ["examples/flows-copies.json"],
    ["examples/rules-mirror.json"],
    ["examples/state-meter.json"],
  ])("%s %s: says of every frame what --json says", async (...operands) => {
    const json = lines(await ran(...operands, "--json"));
    const rows = lines(await ran(...operands, "--format", "ndjson"));
    expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => COLUMNS));
    const common = ({ frame, verdict, reason, tag, rules, to, copies }: Row): Row => {
      return { frame, verdict, reason, tag, rules, to, copies };
    };
    expect(rows.map(common)).toEqual(json.map(common));
    expect(rows.map((row) => row["wire_length"])).toEqual(json.map(({ len }) => len));
    const [head, ...records] = csv(await ran(...operands, "--format", "csv"));
    expect(head).toEqual(COLUMNS);
    // Times have more digits than JSON.parse keeps.
    const [time, withoutTime] = [COLUMNS.indexOf("time"), (row: string[]) => row.toSpliced(1, 1)];
    expect(time).toBe(1);
    expect(records.map(withoutTime)).toEqual(rows.map(cells).map(withoutTime));
  });

  it("has times, lengths and link types as they were captured, and the port", async () => {
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 101, nanoseconds: true }] });
    const frames = [
      writer.frame({ time: 1_767_225_600_123_456_000n, bytes: new Uint8Array(60), wireLength: 1060 }),
      writer.frame({ time: 18_446_744_073_709_551_615n, bytes: new Uint8Array(20), interfaceId: 1 }),
    ];
    const capture = scratch("times.pcapng", Buffer.concat([writer.header(), ...frames]));
    const scenario = scratch("ports.json", JSON.stringify({ ...withRules(), device: { ports: 2 } }));
    const records = csv(await ran(scenario, capture, "--port", "2", "--format", "csv"));
    expect(records.slice(1).map((record) => record.slice(0, 6))).toEqual([
      ["1", "1767225600123456000", "2", "60", "1060", "1"],
      ["2", "18446744073709551615", "2", "20", "20", "101"],
    ]);
    const text = await ran(scenario, capture, "--format", "ndjson");
    expect(text).toMatch(
      /^\{"frame":1,"time":1767225600123456000,"port":1,"length":60,"wire_length":1060,"link_type":1,/,
    );
  });

  it("quotes what RFC 4180 wants quoted, and nothing else", async () => {
    const name = 'a, "b"\r\nc';
    const file = scratch("quoted.json", JSON.stringify(withRules({ name }, { name: "plain; name" })));
    const records = csv(await ran(file, CAPTURE, "--limit", "6", "--format", "csv"));
    const rules = new Set(records.slice(1).map((record) => record[9]));
    expect(rules).toContain(name);
    const text = await ran(SCENARIO, CAPTURE, "--format", "csv");
    expect(text).not.toContain('"');
    expect(lines(await ran(file, CAPTURE, "--limit", "6", "--format", "ndjson"))[3]).toMatchObject({ rules: [name] });
  });

  it("writes names that spreadsheets would compute as text", async () => {
    const names = ["=1+1", "+r", "-r", "@r"];
    for (const name of names) {
      const file = scratch("formula.json", JSON.stringify(withRules({ name })));
      const records = csv(await ran(file, CAPTURE, "--limit", "20", "--format", "csv"));
      const rules = new Set(records.slice(1).map((record) => record[9]));
      expect(rules).toContain(`'${name}`);
      expect(rules).not.toContain(name);
    }
  });

  it("leaves the port out where a frame is sent", async () => {
    const frames = [{ hex: WEB_FRAME, send: "web" }, { hex: WEB_FRAME }];
    const file = scratch("sent.json", JSON.stringify({ ...withRules(), frames }));
    expect(lines(await ran(file, "--format", "ndjson")).map(({ port, time }) => [port, time])).toEqual([
      [null, 0],
      [1, 1000],
    ]);
    expect(csv(await ran(file, "--format", "csv"))[1]?.slice(0, 4)).toEqual(["1", "0", "", "54"]);
  });

  it("writes a file, and nothing else", async () => {
    const path = scratch("rows.csv", "what was there");
    expect(await ran(SCENARIO, CAPTURE, "--format", "csv", "--output", path)).toBe("");
    expect(readFileSync(path, "utf8")).toBe(await ran(SCENARIO, CAPTURE, "--format", "csv"));
    const none = await ran(SCENARIO, CAPTURE, "--limit", "0", "--format", "csv");
    expect(none).toBe(`${COLUMNS.join(",")}\r\n`);
    expect(await ran(SCENARIO, CAPTURE, "--limit", "0", "--format", "ndjson")).toBe("");
  });

  it("tells of failed expectations all the same", async () => {
    const document = { ...withRules(), expect: { frames: [{ frame: 2, verdict: "deliver" }] } };
    const file = scratch("failing.json", JSON.stringify(document));
    const { code, out, err } = await flowsteer(["run", file, CAPTURE, "--limit", "3", "--format", "ndjson"]);
    expect(code).toBe(1);
    expect(lines(out).length).toBe(3);
    expect(err).toContain("frame 2: verdict: expected deliver, got miss");
  });

  it.each<[string, string[], string]>([
    ["a format", ["--format", "xml"], "--format xml: expected one of csv, ndjson, parquet\n"],
    ["--json beside it", ["--format", "csv", "--json"], "--json and --format cannot be used together\n"],
    [
      "--output without it",
      ["--output", "x.csv"],
      "--output x.csv: needs --format csv|ndjson|parquet; use --out to write captures\n",
    ],
  ])("refuses %s", async (_, args, message) => {
    expect(await flowsteer(["run", SCENARIO, CAPTURE, ...args])).toEqual({
      code: 2,
      out: "",
      err: `flowsteer: ${message}`,
    });
  });

  it.each([
    ["a folder that is not there", "nope/x.csv", "no such folder; check the path"],
    ["a folder", "examples", "it is a folder; name a file"],
    ["what the run reads", CAPTURE, "this run reads it; choose another file for --output"],
  ])("cannot write %s", async (_, output, why) => {
    const err = `flowsteer: ${output}: the file cannot be written: ${why}\n`;
    const args = ["run", SCENARIO, CAPTURE, "--format", "csv", "--output", output];
    expect(await flowsteer(args)).toEqual({ code: 3, out: "", err });
  });

  it.skipIf(!existsSync("/dev/full"))("names a file whose disk is full", async () => {
    const ended = await flowsteer(["run", SCENARIO, CAPTURE, "--format", "csv", "--output", "/dev/full"]);
    const err = "flowsteer: /dev/full: the file cannot be written: no space is left on the device\n";
    expect(ended).toEqual({ code: 3, out: "", err });
  });

  it("ends quietly when its reader has seen enough", async () => {
    const sample = readFileSync(CAPTURE);
    const body = Array.from({ length: 400 }, () => sample.subarray(24));
    const big = scratch("big.pcap", Buffer.concat([sample.subarray(0, 24), ...body]));
    const child = start(["run", SCENARIO, big, "--format", "csv"]);
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});
