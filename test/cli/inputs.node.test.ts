/** Inputs and outputs of the command: compressed, cut and missing files, standard input, single frames, exit codes. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { buildFrame } from "../../src/packet/index.js";
import { PcapngWriter, PcapWriter } from "../../src/index.js";
import { flowsteer, root, scratch } from "./support/command.js";

const CAPTURE = "examples/everyday.pcap";
const SCENARIO = "examples/everyday.json";
const sample = readFileSync(join(root, CAPTURE));

/** A pcapng file whose two frames have no time. */
function timeless(): Uint8Array {
  const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }] });
  const frame = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }]);
  return Buffer.concat([writer.header(), ...[1, 2].map(() => writer.frame({ time: null, bytes: frame }))]);
}

const TAKE_ALL = JSON.stringify({
  flowsteer: 1,
  queues: [{ name: "q" }],
  tables: [{ name: "root", level: 0 }],
  rules: [{ name: "all", table: "root", actions: [{ queue: "q" }] }],
});

describe("compressed captures", () => {
  it("are read as what they hold, whatever their names", async () => {
    const { out } = await flowsteer(["parse", CAPTURE, "--json"]);
    const packed = zlib.gzipSync(sample);
    const named = await flowsteer(["parse", scratch("packed.pcap", packed), "--json"]);
    expect(named).toEqual({ code: 0, out, err: "" });
    expect(await flowsteer(["parse", "-", "--json"], { stdin: packed })).toEqual(named);
    // Several members follow each other in a gzip file.
    const half = sample.length >> 1;
    const members = [sample.subarray(0, half), sample.subarray(half)].map((one) => zlib.gzipSync(one));
    expect(await flowsteer(["parse", scratch("members", Buffer.concat(members)), "--json"])).toEqual(named);
    const run = await flowsteer(["run", SCENARIO, scratch("packed.pcap"), "--json"]);
    expect(run).toEqual(await flowsteer(["run", SCENARIO, CAPTURE, "--json"]));
  });

  it("that are cut or damaged give what could be unpacked, and exit code 4", async () => {
    const packed = zlib.gzipSync(sample);
    const cut = await flowsteer(["parse", scratch("cut.gz", packed.subarray(0, packed.length - 300)), "--json"]);
    expect(cut.code).toBe(4);
    expect(cut.err).toMatch(
      /^note: .*cut\.gz breaks off at byte [\d,]+: gzip data: unexpected end of file; the \d+ frames/,
    );
    const lines = cut.out.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      partial: "broken capture",
      frames: lines.length - 1,
      broken: [{ what: "gzip data: unexpected end of file" }],
    });
    const none = await flowsteer(["parse", scratch("none.gz", packed.subarray(0, 12))]);
    expect(none).toMatchObject({ code: 2, out: "" });
  });

  it("in Zstandard need a Node.js that has it", async () => {
    const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Uint8Array };
    const packed = zstdCompressSync?.(sample) ?? Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0);
    const { code, out, err } = await flowsteer(["parse", scratch("packed.zst", packed), "--json"]);
    if (zstdCompressSync === undefined) {
      expect(code).toBe(2);
      expect(err).toMatch(
        /packed\.zst: neither a pcap nor a pcapng file\n {2}Node\.js \S+ cannot decompress Zstandard/,
      );
    } else expect({ code, out, err }).toEqual(await flowsteer(["parse", CAPTURE, "--json"]));
  });
});

describe("a capture that ends in the middle of a record", () => {
  const cut = (): string => scratch("cut.pcap", sample.subarray(0, 5000));
  const broken = { offset: 882, what: "packet record", wanted: 5641, had: 4118 };

  it("marks the JSON, and the exit code is 4", async () => {
    for (const args of [["parse"], ["run", SCENARIO]]) {
      const { code, out, err } = await flowsteer([...args, cut(), CAPTURE, "--json"]);
      const lines = out.trimEnd().split("\n");
      expect(code).toBe(4);
      expect(err).toContain("cut.pcap breaks off at byte 882: packet record: wanted 5,641, had 4,118; the 8 frames");
      expect(JSON.parse(lines.at(-1) ?? "")).toEqual({
        partial: "broken capture",
        frames: lines.length - 1,
        broken: [{ file: cut(), ...broken }],
      });
    }
  });

  it("marks the report, and all is printed", async () => {
    const { code, out } = await flowsteer(["run", SCENARIO, cut(), CAPTURE]);
    expect(code).toBe(4);
    expect(out).toContain(`from ${cut()}, ${CAPTURE}, partial: ${cut()} cut off\n`);
    const rows = await flowsteer(["run", SCENARIO, cut(), "--format", "csv"]);
    expect(rows.code).toBe(4);
    expect(rows.out.trimEnd().split("\r\n").length).toBe(9);
  });
});

describe("times that a capture does not have", () => {
  it("are left out", async () => {
    const file = scratch("timeless.pcapng", timeless());
    const scenario = scratch("all.json", TAKE_ALL);
    const text = await flowsteer(["parse", file]);
    expect(text.out).toMatch(/^frame 1 {2}42 bytes\n/);
    const json = await flowsteer(["parse", file, "--json"]);
    expect(json.out).toMatch(/^\{"frame":1,"time":null,"len":42,/);
    const csv = await flowsteer(["run", scenario, file, "--format", "csv"]);
    expect(csv.out.split("\r\n")[1]).toMatch(/^1,,1,42,42,1,deliver,/);
    const rows = await flowsteer(["run", scenario, file, "--format", "ndjson"]);
    expect(rows.out).toMatch(/^\{"frame":1,"time":null,"port":1,/);
    const folder = scratch("timeless");
    await flowsteer(["run", scenario, file, "--out", folder]);
    expect((await flowsteer(["parse", `${folder}/qp-q.pcapng`, "--json"])).out).toBe(json.out);
  });
});

describe("a length beyond the frame", () => {
  it("is told, by the length on the wire where the capture is cut", async () => {
    const frame = buildFrame([{ header: "ethernet" }, { header: "ipv4", total_length: 65028 }, new Uint8Array(1496)]);
    const v6 = buildFrame([{ header: "ethernet" }, { header: "ipv6", payload_length: 101 }, new Uint8Array(100)]);
    const writer = new PcapWriter({ linkType: 1 });
    const records = [
      { time: 0n, bytes: frame },
      { time: 0n, bytes: frame.subarray(0, 100), wireLength: 65028 + 14 },
      { time: 0n, bytes: frame.subarray(0, 100), wireLength: frame.length },
      { time: 0n, bytes: v6 },
    ];
    const file = scratch("beyond.pcap", Buffer.concat([writer.header(), ...records.map((one) => writer.frame(one))]));
    const { out } = await flowsteer(["parse", file]);
    const [whole, snapped, both, short] = out.split("\n\n").map((text) => `${text}\n`);
    const told = "\n  length   IPv4 total length 65028, frame has 1516: truncated by 63,512 bytes\n";
    expect(whole).toContain(told);
    expect(snapped).toMatch(/ {2}65,042 bytes \(100 captured\)/);
    expect(snapped).not.toContain("  length ");
    expect(both).toMatch(/ {2}1,530 bytes \(100 captured\)/);
    expect(both).toContain(told);
    expect(short).toContain("\n  length   IPv6 payload length 101, frame has 100: truncated by 1 byte");
    const lines = (await flowsteer(["parse", file, "--json"])).out.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { beyond: unknown }).beyond)).toEqual([
      [{ header: "ipv4", level: "outer", field: "total_length", offset: 16, length: 65028, had: 1516 }],
      [],
      [{ header: "ipv4", level: "outer", field: "total_length", offset: 16, length: 65028, had: 1516 }],
      [{ header: "ipv6", level: "outer", field: "payload_length", offset: 18, length: 101, had: 100 }],
    ]);
  });
});

describe("link types", () => {
  it("have names", async () => {
    const writer = new PcapWriter({ linkType: 113 });
    const cooked = buildFrame([{ header: "linux_cooked" }, { header: "ipv4" }, { header: "udp" }]);
    const bytes = Buffer.concat([writer.header(), writer.frame({ time: 0n, bytes: cooked })]);
    const { out } = await flowsteer(["parse", scratch("cooked.pcap", bytes)]);
    expect(out).toMatch(/^frame 1 {2}1970-01-01 00:00:00\.000000 {2}44 bytes {2}Linux cooked capture v1 \(113\)\n/);
  });
});

describe("--frame", () => {
  it("shows and runs only that frame", async () => {
    const all = (await flowsteer(["parse", CAPTURE, CAPTURE])).out.split("\n\n");
    const one = await flowsteer(["parse", CAPTURE, CAPTURE, "--frame", "88"]);
    expect(one).toEqual({ code: 0, out: `${all[87]}\n\n`, err: "" });
    const run = await flowsteer(["run", SCENARIO, CAPTURE, "--json"]);
    const ran = await flowsteer(["run", SCENARIO, CAPTURE, "--frame", "3", "--json"]);
    expect(ran.out).toBe(`${run.out.split("\n")[2]}\n`);
    const own = await flowsteer(["run", "examples/ports.json", "--frame", "2", "--json"]);
    expect(own.out).toMatch(/^\{"frame":2,[^\n]*\n$/);
    expect(own).toMatchObject({ code: 0, err: "note: expectations of ports.json are about all frames: not checked\n" });
  });

  it("is refused beyond the last frame, and beside --limit", async () => {
    for (const args of [
      ["parse", CAPTURE],
      ["run", SCENARIO, CAPTURE],
    ]) {
      const { code, out, err } = await flowsteer([...args, "--frame", "87"]);
      expect({ code, out, err }).toEqual({
        code: 2,
        out: "",
        err: "flowsteer: --frame 87: there are only 86 frames\n",
      });
    }
    expect((await flowsteer(["run", "examples/ports.json", "--frame", "999"])).code).toBe(2);
    expect((await flowsteer(["parse", CAPTURE, "--frame", "0"])).code).toBe(2);
    expect((await flowsteer(["parse", CAPTURE, "--frame", "1", "--limit", "1"])).code).toBe(2);
  });
});

describe("standard input", () => {
  it("is a scenario or a capture, once", async () => {
    const stdin = readFileSync(join(root, SCENARIO));
    expect(await flowsteer(["run", "-", CAPTURE], { stdin })).toEqual(await flowsteer(["run", SCENARIO, CAPTURE]));
    expect((await flowsteer(["check", "-"], { stdin })).out).toMatch(/^standard input: good\n/);
    expect((await flowsteer(["parse", CAPTURE, "--scenario", "-", "--limit", "1"], { stdin })).code).toBe(0);
    for (const args of [
      ["run", "-", "-"],
      ["check", "-", "-"],
      ["parse", "-", "--scenario", "-"],
    ]) {
      const { code, err } = await flowsteer(args, { stdin });
      expect({ code, err }).toEqual({
        code: 2,
        err: "flowsteer: -: standard input can be named only once\n",
      });
    }
    const wrong = await flowsteer(["run", "-", CAPTURE], { stdin: Buffer.from("{") });
    expect(wrong.err).toMatch(/^flowsteer: standard input: line 1, column 2/);
  });
});

describe("inputs and outputs", () => {
  it("are opened before work begins", async () => {
    const kept = scratch("kept.csv", "kept");
    const late = await flowsteer(["run", SCENARIO, CAPTURE, "nope.pcap", "--format", "csv", "--output", kept]);
    expect(late).toEqual({
      code: 2,
      out: "",
      err: "flowsteer: nope.pcap: the file cannot be read\n  no such file; check the path\n",
    });
    expect(readFileSync(kept, "utf8")).toBe("kept");
    expect(await flowsteer(["parse", CAPTURE, "examples"])).toMatchObject({ code: 2, out: "" });
  });

  it.each([
    [
      "a folder that is a file",
      ["--out", "package.json"],
      /^flowsteer: package\.json: .*: a file of this name already exists\n$/,
    ],
    ["a file in no folder", ["--format", "csv", "--output", "nope/x.csv"], /: no such folder; check the path\n$/],
    [
      "a full device",
      ["--format", "csv", "--output", "/dev/full"],
      /^flowsteer: \/dev\/full: .*: no space is left on the device\n$/,
    ],
  ])("that cannot be written are one line and exit code 3: %s", async (_, args, message) => {
    const { code, out, err } = await flowsteer(["run", SCENARIO, CAPTURE, ...args]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(message);
    expect(err.split("\n").length).toBe(2);
  });

  it.each([`parse ${CAPTURE}`, "--help", "help"])("also where standard output is: %s", (args) => {
    const command = `node dist/cli.js ${args} 2>&1 >/dev/full; echo $?`;
    expect(execFileSync("sh", ["-c", command], { cwd: root, encoding: "utf8" })).toMatch(
      /^flowsteer: standard output: the file cannot be written: [^\n]*no space[^\n]*\n3\n$/,
    );
  });
});

describe("flowsteer check", () => {
  it("tells every error of every file", async () => {
    const one = scratch("one.json", JSON.stringify({ flowsteer: 1, queues: [{}], tables: [{ name: "t" }] }));
    const two = scratch("two.json", "{");
    const { code, out, err } = await flowsteer(["check", one, SCENARIO, two]);
    expect(code).toBe(2);
    expect(out).toMatch(/^examples\/everyday\.json: good\n/);
    const places = [...err.matchAll(/^flowsteer: (\S+\.json: [^:]+)/gm)].map(([, place]) => place);
    expect(places).toEqual([`${one}: queues[0]`, `${one}: tables[0]`, `${two}: line 1, column 2`]);
    expect(err).toMatch(/\n3 errors\n$/);
    expect(await flowsteer(["check", SCENARIO, "nope.json"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("--color and --quiet", () => {
  const escape = "\u001b[";

  it("--color goes before NO_COLOR and the terminal", async () => {
    const parse = ["parse", CAPTURE, "--limit", "1"];
    const env = { NO_COLOR: "1" };
    expect((await flowsteer([...parse, "--color", "always"], { env })).out).toContain(escape);
    expect((await flowsteer([...parse, "--color=always"])).out).toContain(escape);
    for (const color of ["auto", "never"])
      expect((await flowsteer([...parse, "--color", color])).out).not.toContain(escape);
    expect((await flowsteer(["check", "nope", "--color", "always"])).err).toContain(escape);
    const { code, err } = await flowsteer([...parse, "--color", "red"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: "flowsteer: --color red: expected one of auto, always, never\n",
    });
  });

  it("--quiet leaves out the report and notes, not rows and errors", async () => {
    const cut = scratch("quiet.pcap", sample.subarray(0, 5000));
    expect(await flowsteer(["run", SCENARIO, cut, "--quiet"])).toEqual({ code: 4, out: "", err: "" });
    expect((await flowsteer(["run", SCENARIO, cut, "--quiet", "--json"])).out).toMatch(/^\{"frame":1,/);
    expect(await flowsteer(["parse", cut, "--quiet"])).toMatchObject({ code: 4, err: "" });
    expect(await flowsteer(["check", SCENARIO, "--quiet"])).toEqual({ code: 0, out: "", err: "" });
    expect((await flowsteer(["run", SCENARIO, "nope", "--quiet"])).err).toMatch(/^flowsteer: nope: /);
  });
});
