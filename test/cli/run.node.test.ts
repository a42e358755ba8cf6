/** flowsteer run, as a user meets it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCapture, type CapturedFrame } from "../../src/packet/capture/read.js";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { everyKey, WEB_FRAME, withRules } from "../scenario/support/documents.js";
import { flowsteer, root, scratch, start } from "./support/command.js";

const SCENARIO = "examples/everyday.json";
const CAPTURE = "examples/everyday.pcap";
const sample = new Uint8Array(readFileSync(join(root, CAPTURE)));
const TAKE_ALL = JSON.stringify(withRules({ actions: [{ tag: 5 }, { queue: "web" }] }));

async function framesOf(file: Uint8Array): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = [];
  for await (const batch of readCapture(file)) frames.push(...batch);
  return frames;
}

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** A capture with a link type that has no parser between two that have one. */
function mixedCapture(): Uint8Array {
  const writer = new PcapngWriter({
    interfaces: [{ linkType: 1 }, { linkType: 147 }, { linkType: 101, nanoseconds: true }],
  });
  const bytes = new Uint8Array(60);
  const parts = [0, 1, 2].map((interfaceId) =>
    writer.frame({ time: 1_000_000_123n, bytes, wireLength: 1060, interfaceId }),
  );
  return Buffer.concat([writer.header(), ...parts]);
}

describe("flowsteer run", () => {
  it("reports where frames went, hits a rule and counters", async () => {
    const { code, out, err } = await flowsteer(["run", SCENARIO, CAPTURE]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").slice(0, 15)).toEqual([
      "An everyday mix: one port, four tables, six queues",
      "86 frames, 31,873 bytes from examples/everyday.pcap",
      "",
      "Destination     frames   bytes   share",
      "qp:web              24  12,666  27.9 %",
      "qp:control          17   1,654  19.8 %",
      "qp:mail             12     967  14.0 %",
      "qp:slow             10   6,321  11.6 %",
      "qp:tenant-blue       4     592   4.7 %",
      "qp:dns               2     364   2.3 %",
      "miss                 7     466   8.1 %  action default_miss",
      "drop                 6     680   7.0 %  no rule matched in table services of nic_rx",
      "drop                 2   1,011   2.3 %  action drop",
      "drop                 1   7,106   1.2 %  no rule matched in table overlay of nic_rx",
      "miss                 1      46   1.2 %  no rule matched in the root table of nic_rx",
    ]);
    expect(out).toContain(
      "\nTable        priority  rule          frames   bytes\nroot                0  vxlan              8   7,986\n",
    );
    expect(out).toContain("\n                    0  telnet             0       0  never hit\n");
    expect(out).toContain("\nCounter          frames   bytes\nweb-frames           24  12,666\n");
    expect(out).not.toContain("\u001b");
    expect(out.split("\n").filter((line) => line !== line.trimEnd())).toEqual([]);
  });

  it("prints one line a frame with --json", async () => {
    const { code, out } = await flowsteer(["run", SCENARIO, CAPTURE, "--json"]);
    expect(code).toBe(0);
    const lines = out.trimEnd().split("\n");
    expect(lines.length).toBe(86);
    expect(lines[0]).toBe(
      '{"frame":1,"len":42,"verdict":"deliver","reason":null,"to":["qp:control"],"tag":null,"rules":["arp"],"registers":{},"copies":[],"toTags":[0],"copyTags":[],"toFrames":[null],"copyFrames":[],"beyond":{}}',
    );
    expect(jsonLines(out).map(({ frame }) => frame)).toEqual(lines.map((_, i) => i + 1));
    for (const line of jsonLines(out)) {
      expect(Object.keys(line)).toEqual([
        "frame",
        "len",
        "verdict",
        "reason",
        "to",
        "tag",
        "rules",
        "registers",
        "copies",
        "toTags",
        "copyTags",
        ...(line["reason"] === "no_rule" || line["reason"] === "table_miss" ? ["missed"] : []),
        "toFrames",
        "copyFrames",
        "beyond",
      ]);
    }
  });

  it("reads standard input, and several captures as one sequence", async () => {
    const whole = await flowsteer(["run", SCENARIO, CAPTURE, "--json"]);
    const piped = await flowsteer(["run", SCENARIO, "-", "--json"], { stdin: sample });
    expect(piped).toEqual(whole);
    const twice = await flowsteer(["run", SCENARIO, CAPTURE, "-", "--json", "--limit", "90"], { stdin: sample });
    expect(jsonLines(twice.out).map(({ frame }) => frame)).toEqual(Array.from({ length: 90 }, (_, i) => i + 1));
    expect(jsonLines(twice.out)[86]).toEqual({ ...jsonLines(whole.out)[0], frame: 87 });
  });

  it("writes a capture for each destination, with times and link types", async () => {
    const folder = scratch("sorted");
    const { code, out } = await flowsteer(["run", SCENARIO, CAPTURE, "--out", folder]);
    expect(code).toBe(0);
    expect(out).toContain(`\nwrote ${join(folder, "qp-web.pcapng")}: 24\n`);
    const names = ["drop", "miss", "qp-control", "qp-dns", "qp-mail", "qp-slow", "qp-tenant-blue", "qp-web"];
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.pcapng`));

    const targets = jsonLines((await flowsteer(["run", SCENARIO, CAPTURE, "--json"])).out).map(({ to, verdict }) =>
      String((to as string[])[0] ?? verdict).replace(":", "-"),
    );
    const input = await framesOf(sample);
    for (const name of names) {
      const got = await framesOf(new Uint8Array(readFileSync(join(folder, `${name}.pcapng`))));
      const wanted = input.filter((_, i) => targets[i] === name);
      const plain = ({ time, linkType, wireLength, bytes }: CapturedFrame): unknown[] => [
        time,
        linkType,
        wireLength,
        Buffer.from(bytes).toString("hex"),
      ];
      expect(got.map(plain), name).toEqual(wanted.map(plain));
    }
  });

  it("passes over link types without a parser, and keeps the others apart in one file", async () => {
    const scenario = scratch("all.json", TAKE_ALL);
    const capture = scratch("mixed.pcapng", mixedCapture());
    const folder = scratch("mixed");
    const { code, out, err } = await flowsteer(["run", scenario, capture, "--out", folder]);
    expect({ code, err }).toEqual({ code: 0, err: "note: not parsed: link type private use (147): 1 skipped\n" });
    expect(out).toContain("3 frames, 3,180 bytes");
    expect(out).toMatch(/^not parsed +1 +1,060 +33\.3 % {2}link type private use \(147\)$/m);
    const frames = await framesOf(new Uint8Array(readFileSync(join(folder, "qp-web.pcapng"))));
    expect(frames.map(({ linkType, time, wireLength }) => [linkType, time, wireLength])).toEqual([
      [1, 1_000_000_000n, 1060],
      [101, 1_000_000_123n, 1060],
    ]);
    const json = await flowsteer(["run", scenario, capture, "--json"]);
    expect(jsonLines(json.out).map(({ frame, len }) => [frame, len])).toEqual([
      [1, 1060],
      [3, 1060],
    ]);
  });

  it("takes frames with times that no file holds, and wire lengths below their own", async () => {
    const bytes = new Uint8Array(60);
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }] });
    const frame = writer.frame({ time: 0n, bytes });
    const view = new DataView(frame.buffer, frame.byteOffset);
    // The last microsecond, which has more nanoseconds than 64 bits; and 10 bytes on the wire.
    view.setUint32(12, 0xffffffff, true);
    view.setUint32(16, 0xffffffff, true);
    view.setUint32(24, 10, true);
    const file = scratch("strange.pcapng", Buffer.concat([writer.header(), frame]));
    const folder = scratch("strange");
    const { code, out, err } = await flowsteer(["run", scratch("all.json", TAKE_ALL), file, "--json", "--out", folder]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(jsonLines(out)[0]).toMatchObject({ len: 60, verdict: "deliver" });
    const [written] = await framesOf(new Uint8Array(readFileSync(join(folder, "qp-web.pcapng"))));
    expect(written?.time).toBe(2n ** 64n - 1n);
    expect((await flowsteer(["parse", file])).out).toMatch(/^frame 1 {2}18446744073709551615000 ns {2}60 bytes$/m);
  });

  it("reads a capture up to its break and says where that is", async () => {
    const { code, out, err } = await flowsteer(["run", SCENARIO, "-"], { stdin: sample.subarray(0, 5000) });
    expect({ code, err }).toEqual({
      code: 4,
      err: "note: standard input breaks off at byte 882: packet record: wanted 5,641, had 4,118; the 8 frames before it were read\n",
    });
    expect(out).toContain("8 frames, 730 bytes from standard input, partial: standard input cut off\n");
  });

  it("runs the frames of the scenario, and tells when an expectation fails", async () => {
    const good = await flowsteer(["run", "examples/ports.json"]);
    expect({ code: good.code, err: good.err }).toEqual({ code: 0, err: "" });
    expect(good.out).toMatch(/\nAll expectations are met\.\n$/);
    expect(good.out).toContain(
      "Receive buffers  posted  completed  failed  left\nweb                   2          2       0     0\n",
    );

    const document = everyKey() as {
      messages: unknown[];
      frames: unknown[];
      expect: { frames: { tag: number | null }[] };
    };
    document.expect.frames[0]!.tag = 7;
    const file = scratch("failing.json", JSON.stringify(document));
    const bad = await flowsteer(["run", file, "--json"]);
    expect(bad.code).toBe(1);
    expect(jsonLines(bad.out).length).toBe(document.messages.length + document.frames.length);
    expect(bad.err).toBe(
      `${file}: 1 expectation failed\n  frame 1 "first": tag: expected 7, got 5  (expect.frames[0].tag)\n`,
    );

    const other = await flowsteer(["run", file, CAPTURE]);
    expect({ code: other.code, err: other.err }).toEqual({
      code: 0,
      err: "note: expectations of failing.json are about its own frames: not checked\n",
    });
  });

  it("checks expectations about captures where the scenario has no frames", async () => {
    const document = { ...withRules(), expect: { totals: { frames: 3 }, frames: [{ frame: 2, verdict: "deliver" }] } };
    const file = scratch("of-captures.json", JSON.stringify(document));
    const { code, err } = await flowsteer(["run", file, CAPTURE, "--limit", "3"]);
    expect({ code, err }).toEqual({
      code: 1,
      err: `${file}: 1 expectation failed\n  frame 2: verdict: expected deliver, got miss  (expect.frames[0].verdict)\n`,
    });
  });

  it("brings frames in on the port that is asked for", async () => {
    const document = { ...withRules({ match: { "ext.port": 2 }, actions: [{ queue: "web" }] }), device: { ports: 2 } };
    const file = scratch("ports.json", JSON.stringify(document));
    const [first, second] = await Promise.all(
      ["1", "2"].map(async (port) => flowsteer(["run", file, CAPTURE, "--port", port, "--limit", "1", "--json"])),
    );
    expect(jsonLines(first!.out)[0]).toMatchObject({ verdict: "miss" });
    expect(jsonLines(second!.out)[0]).toMatchObject({ verdict: "deliver" });
  });

  it("sends frames, tells what became of them beyond the port, and writes captures of both ends", async () => {
    const frames = [
      { hex: WEB_FRAME, send: "near" },
      { hex: WEB_FRAME, port: 2 },
    ];
    const document = {
      ...withRules({ match: { "ext.port": 2, "outer.tcp_dport": 443 }, actions: [{ queue: "web" }] }),
      device: { ports: 2 },
      connect: [{ port: 1, to: 2 }],
      queues: [{ name: "web" }, { name: "near" }],
      frames,
    };
    const folder = scratch("sent");
    const { code, out, err } = await flowsteer([
      "run",
      scratch("sent.json", JSON.stringify(document)),
      "--out",
      folder,
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("Destination  frames  bytes   share\n");
    expect(out).toContain("\nLeft by  destination  frames  bytes\nport:1   qp:web            1     54\n");
    expect(readdirSync(folder).sort()).toEqual(["port-1.pcapng", "qp-web.pcapng"]);
    expect((await framesOf(new Uint8Array(readFileSync(join(folder, "qp-web.pcapng"))))).length).toBe(2);
    // A port on the command line is for what comes in.
    const moved = await flowsteer(["run", scratch("sent.json", JSON.stringify(document)), "--port", "1", "--json"]);
    expect(jsonLines(moved.out)).toMatchObject([{ to: ["port:1"] }, { verdict: "miss" }]);
  });

  it("tells of flows in the order in which they are asked, and of what they count", async () => {
    const [received, sent] = await Promise.all(
      ["vxlan", "sending"].map(async (name) => flowsteer(["run", `examples/flows-${name}.json`])),
    );
    expect(received!.out).toContain(
      [
        "miss              3    312  50.0 %  no rule and no flow matched in the root table of nic_rx",
        "",
        "Flow               kind    port  priority  frames  bytes",
        "tenant web         normal     1         0       1    104",
        "tenant, high half  normal     1         1       1    104",
        "plain web          normal     1         2       1     54",
        "",
        "Flow counter  index  value",
        "tenant            0      2  packets",
        "                  1    208  bytes",
        "",
        "All expectations are met.",
      ].join("\n"),
    );
    const lines = sent!.out.split("\n");
    const flows = lines.slice(lines.findIndex((line) => line.startsWith("Flow ")) + 1);
    expect(flows.slice(0, flows.indexOf("")).map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
      ["echo", "normal", "1", "0"],
      ["discard", "normal", "1", "0"],
      ["daytime", "normal", "1", "0"],
      ["ssh of the host", "ethtool", "2", "0"],
      ["no telnet", "tc", "2", "0"],
      ["port 2, default", "default", "2", "3"],
      ["no mail", "egress", "1", "0"],
      ["sent web", "egress", "1", "1"],
    ]);
  });

  it("tells what meters and connections answered, why a frame was dropped, and what they hold at the end", async () => {
    const [meter, firewall] = await Promise.all(
      ["meter", "firewall"].map(async (name) => flowsteer(["run", `examples/state-${name}.json`])),
    );
    expect(meter!.out).toContain(
      [
        "State                    answer  frames  bytes  destinations",
        "meter two a millisecond  red          2    108  drop 2 (action drop)",
        "                         green        4    216  qp:customer 4",
        "meter contract[1]        red          1    106  drop 1 (action drop)",
        "                         yellow       1    106  qp:operator 1",
        "                         green        1    106  qp:operator 1",
        "",
        "State at the end",
        "meter contract[1]  22 committed, 22 excess",
      ].join("\n"),
    );
    expect(firewall!.out).toContain(
      [
        "State                      answer                    frames  bytes  destinations",
        "connection connections[2]  valid                          3    172  qp:out 1, qp:in 2",
        "                           valid, changes its state       4    216  qp:out 3, qp:in 1",
        "                           invalid                        3    162  drop 3 (action drop)",
        "",
        "State at the end",
        "connection connections[2]  empty",
      ].join("\n"),
    );
    const open = await flowsteer(["run", "examples/state-firewall.json", "--limit", "6"]);
    expect(open.out).toContain("\nconnection connections[2]  established, assured\n");
    const begun = await flowsteer(["run", "examples/state-firewall.json", "--limit", "2"]);
    expect(begun.out).toContain("\nconnection connections[2]  half-open\n");
  });

  it("tells of flows in device bytes, entries of flow tables and counters of a bulk", async () => {
    const { out } = await flowsteer(["run", "examples/flows-device.json", "--limit", "6"]);
    expect(out).toContain(
      [
        "Flow              kind     port  priority  frames  bytes",
        "foreign roce      rdma_rx               0       1     66",
        "roce              rdma_rx               1       1     66",
        "web               nic_rx                1       1     54",
        "udp               nic_rx                2       4    192",
        "others            nic_rx                9       2    108",
        "no telnet leaves  nic_tx                0       0      0  never hit",
        "leaves            nic_tx                1       0      0  never hit",
        "",
        "Flow table  index  entry    frames  bytes",
        "services        0  dns           1     42",
        "                1  discard       1     42",
        "                2  back          2    108",
        "",
        "Counter      frames  bytes",
        "services[0]       1     66",
        "services[1]       1     54",
        "services[2]       1     42",
        "services[3]       2    108",
      ].join("\n"),
    );
    const none = await flowsteer(["run", "examples/flows-device.json", "--limit", "0"]);
    expect(none.out).toContain("\nservices[0 to 7]       0      0\n");
  });

  it("tells of copies, of the flows that make them, and of flows that nobody hit", async () => {
    const { out } = await flowsteer(["run", "examples/flows-copies.json", "--limit", "2"]);
    expect(out).toContain("\nCopies    frames  bytes\nqp:tap         2    108\nqp:audit       1     54\n");
    expect(out).toContain(
      [
        "tap      sniffer               1                 2    108",
        "admin    normal                1         0       1     54",
        "audit    normal, dont_trap     1         1       1     54",
        "web      normal                1         1       1     54",
        "udp log  normal, dont_trap     1         2       0      0  never hit",
      ].join("\n"),
    );
    const folder = scratch("copies");
    expect((await flowsteer(["run", "examples/flows-copies.json", "--out", folder])).code).toBe(0);
    expect((await framesOf(new Uint8Array(readFileSync(join(folder, "qp-tap.pcapng"))))).length).toBe(7);
  });

  it("spreads frames over workers, with the same report, and tells where it cannot", async () => {
    const one = await flowsteer(["run", SCENARIO, CAPTURE]);
    expect(await flowsteer(["run", SCENARIO, CAPTURE, "--workers", "2"])).toEqual(one);
    const rows = ["run", SCENARIO, CAPTURE, "--format", "csv"];
    expect(await flowsteer([...rows, "--workers", "2"])).toEqual(await flowsteer(rows));
    const { code, err } = await flowsteer(["run", "examples/state-meter.json", "--workers", "2"]);
    const note = "note: --workers 2: one steers all frames: frames can reach meters\n";
    expect({ code, err }).toEqual({ code: 0, err: note });
    const none = await flowsteer(["run", SCENARIO, CAPTURE, "--workers", "0"]);
    expect(none.err).toContain("--workers 0: expected a whole number, 1 to 64\n");
  });

  it("does not take its own input for output", async () => {
    const folder = scratch("");
    const file = scratch("qp-web.pcapng", mixedCapture());
    const { code, err } = await flowsteer(["run", scratch("all.json", TAKE_ALL), file, "--out", folder]);
    expect(code).toBe(3);
    expect(err).toContain(
      "qp-web.pcapng: the file cannot be written: it is a capture of this run; choose another folder for --out\n",
    );
    expect(readFileSync(file).equals(Buffer.from(mixedCapture()))).toBe(true);
  });

  it("spells out control characters of its files", async () => {
    const name = "\u001b[31mred\u009b";
    const file = scratch("escape.json", JSON.stringify({ ...withRules({ name }), title: name }));
    const { out } = await flowsteer(["run", file, CAPTURE, "--limit", "1"]);
    expect(out.startsWith("\\x1b[31mred\\x9b\n")).toBe(true);
    expect(out).toContain("0  \\x1b[31mred\\x9b ");
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("\u009b");
  });

  it("ends quietly when its reader has seen enough", async () => {
    const body = sample.subarray(24);
    const big = scratch(
      "big.pcap",
      Buffer.concat([sample.subarray(0, 24), ...Array.from({ length: 200 }, () => body)]),
    );
    const child = start(["run", SCENARIO, big, "--json"]);
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});
