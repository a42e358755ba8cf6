/** The command as a whole: help, versions, refusals, parse and check. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../src/scenario/index.js";
import { flowsteer, root, scratch } from "./support/command.js";

describe("help", () => {
  it.each([
    [["--help"], /^flowsteer: steers captured frames/],
    [["-h"], /^flowsteer: steers captured frames/],
    [["help"], /^flowsteer: steers captured frames/],
    [["help", "run"], /^flowsteer run RULES/],
    [["run", "--help"], /^flowsteer run RULES/],
    [["trace", "--help"], /^flowsteer trace RULES/],
    [["help", "why"], /^flowsteer why RULES/],
    [["parse", "--help"], /^flowsteer parse CAPTURE/],
    [["check", "-h"], /^flowsteer check RULES/],
  ])("%j", async (args, beginning) => {
    const { code, out, err } = await flowsteer(args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(beginning);
    expect(out).toContain("Exit codes: 0");
    expect(out.split("\n").filter((line) => line.length > 120)).toEqual([]);
  });

  it("shows a scenario that is one", async () => {
    const { out } = await flowsteer(["--help"]);
    expect(parseScenario(/^ {2}\{[^]*?^ {2}\}/m.exec(out)?.[0] ?? "").rules?.length).toBe(1);
  });

  it("stands on standard error where no command is given", async () => {
    const { code, out, err } = await flowsteer([]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^flowsteer: steers captured frames/);
  });

  it("--version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(await flowsteer(["--version"])).toEqual({ code: 0, out: `flowsteer ${version}\n`, err: "" });
  });
});

describe("a refused input", () => {
  const broken = (): string => scratch("broken.json", '{\n  "flowsteer": 1,\n}\n');
  const wrong = (): string =>
    scratch(
      "wrong.json",
      JSON.stringify({
        flowsteer: 1,
        tables: [{ name: "root", level: 0 }],
        rules: [{ name: "web", table: "root", match: { "outer.tcp_dport": "80-" } }],
      }),
    );

  it.each<[string, () => string[], string]>([
    ["a command", () => ["rum"], "unknown command rum; did you mean run?\n"],
    ["a topic of help", () => ["help", "pares"], "unknown command pares; did you mean parse?\n"],
    [
      "an option before the command",
      () => ["--json", "run"],
      "--json must follow a command; commands: run, trace, why, cover, diff, import, export, record, exec, parse, check, fields, play, serve, extcap, farm, help\n",
    ],
    [
      "a command like no other",
      () => ["zzzzzzzz"],
      "unknown command zzzzzzzz; commands: run, trace, why, cover, diff, import, export, record, exec, parse, check, fields, play, serve, extcap, farm, help\n",
    ],
    ["an option", () => ["run", "--wrkers", "2"], "unknown option --wrkers; did you mean --workers?\n"],
    [
      "an option like no other",
      () => ["run", "--zzzzzzzz"],
      "unknown option --zzzzzzzz; flowsteer run takes --json, --format, --output, --out, --annotate, --port, --limit, --frame, --workers, --map, --set, --driver, --lenient, --profile, --color, --quiet, --help\n",
    ],
    ["an option without its value", () => ["run", "x", "--out"], "--out needs a value\n"],
    ["an option twice", () => ["run", "x", "--port", "1", "--port", "2"], "--port is given twice, as 1 and as 2\n"],
    [
      "a name twice",
      () => ["import", "-", "--map", "1=uplink", "--map", "2=vf1", "--map", "1=vf2"],
      "--map: 1 is given twice, as uplink and as vf2\n",
    ],
    ["a flag with a value", () => ["run", "--json=1"], "--json takes no value\n"],
    ["a number", () => ["parse", "x", "--limit", "ten"], "--limit ten: expected a whole number, 0 or more\n"],
    [
      "a port",
      () => ["run", "examples/everyday.json", "-", "--port", "2"],
      "--port 2: expected a whole number, only 1: the ports of the scenario's device\n",
    ],
    ["no scenario", () => ["run"], "run: name a scenario or rules: flowsteer run RULES CAPTURE...\n"],
    [
      "no capture",
      () => ["run", "examples/everyday.json"],
      "examples/everyday.json: no frames: add a capture after the rules: flowsteer run RULES CAPTURE...\n",
    ],
    ["standard input twice", () => ["parse", "-", "-"], "-: standard input can be named only once\n"],
    [
      "a scenario that is not there",
      () => ["run", "nope.json"],
      "nope.json: the file cannot be read\n  no such file; check the path\n",
    ],
    [
      "a capture that is not there",
      () => ["parse", "nope.pcap"],
      "nope.pcap: the file cannot be read\n  no such file; check the path\n",
    ],
    ["a folder", () => ["parse", "examples"], "examples: the file cannot be read\n  it is a folder; name a file\n"],
    [
      "what is no capture",
      () => ["parse", "package.json"],
      'package.json: byte 0 = "0x7b0a2020": neither a pcap nor a pcapng file\n  a capture starts with a1b2c3d4, a1b23c4d (either byte order) or 0a0d0d0a\n',
    ],
    [
      "what is no JSON",
      () => ["check", broken()],
      `${scratch("broken.json")}: line 3, column 1 = "}": the text is not JSON\n  a key in double quotes stands here; no comma follows the last one\n`,
    ],
    [
      "a wrong field",
      () => ["check", wrong()],
      `${scratch("wrong.json")}: rules[0].match.outer.tcp_dport = "80-": not a range that fits the field\n  write it as 80, "0x50", "0x2/0x3f" or "1024-65535"\n`,
    ],
  ])("%s", async (_, args, message) => {
    expect(await flowsteer(args())).toEqual({ code: 2, out: "", err: `flowsteer: ${message}` });
  });
});

describe("flowsteer parse", () => {
  it("prints fields by name with --json", async () => {
    const { code, out, err } = await flowsteer([
      "parse",
      "test/captures/dns_udp.pcap",
      "test/captures/ip4-trunc.pcap",
      "--json",
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => Object.keys(line))).toEqual(
      lines.map(() => ["frame", "time", "len", "captured", "link_type", "fields", "stopped", "beyond"]),
    );
    expect(lines[0]).toMatchObject({
      frame: 1,
      len: 98,
      fields: {
        "outer.ethertype": 0x800,
        "outer.ip_protocol": 17,
        "outer.udp_dport": 53,
        "outer.ipv4_dst": "209.87.249.18",
      },
      stopped: null,
    });
    expect(lines[2]).toMatchObject({ frame: 3, len: 46, stopped: { header: "ipv4", offset: 14, wanted: 20, had: 6 } });
    expect(Object.keys(lines[2].fields).filter((name: string) => name.includes("ip"))).toEqual([]);
  });

  it("prints a line a header for people", async () => {
    const { code, out } = await flowsteer(["parse", "test/captures/ip4-trunc.pcap"]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "frame 1  2012-04-11 16:01:35.895421  46 bytes (20 captured)",
        "      0  ethernet  c8:bc:c8:96:d2:a0 > 00:10:db:88:d2:ef, ipv4",
        "     14  payload   6 bytes",
        "  stopped  in ipv4 at byte 14, field fragment: wanted 20 bytes, had 6 (truncated)",
        "",
        "",
      ].join("\n"),
    );
  });

  it("prints what rules can ask about with --fields", async () => {
    const { out } = await flowsteer(["parse", "test/captures/ip4-trunc.pcap", "--fields"]);
    expect(out).toBe(
      [
        "frame 1  2012-04-11 16:01:35.895421  46 bytes (20 captured)",
        "  outer  smac c8:bc:c8:96:d2:a0  ethertype 0x0800  dmac 00:10:db:88:d2:ef",
        "  ext    port 1",
        "  stopped  in ipv4 at byte 14, field fragment: wanted 20 bytes, had 6 (truncated)",
        "",
        "",
      ].join("\n"),
    );
  });

  it("prints every field with --detail, and the bytes with --hex", async () => {
    const { out } = await flowsteer(["parse", "test/captures/ip4-udp-bad-chksum.pcap", "--detail", "--hex"]);
    expect(out).toContain(
      [
        "     34  udp       30000 > 13000, length 12, bad checksum 0x0001 (0xa92a)",
        "     34      source_port       30000",
        "     36      destination_port  13000",
        "     38      length            12",
        "     40      checksum          0x0001 (wrong, 0xa92a would be right)",
        "     34    75 30 32 c8 00 0c 00 01                          u02.....",
        "     42  payload   4 bytes",
        "     42      bytes  58585858",
        "     42    58 58 58 58                                      XXXX",
        "",
      ].join("\n"),
    );
    expect(out).not.toContain("outer ");
    const both = await flowsteer(["parse", "test/captures/ip4-udp-bad-chksum.pcap", "--detail", "--fields"]);
    expect(both.out).toContain("     40      checksum ");
    expect(both.out).toContain("  outer  smac ");
  });

  it("parses as the device of a scenario does", async () => {
    const parser = { samples: [{ id: 0, header: "udp", offset: 0 }] };
    const file = scratch("samples.json", JSON.stringify({ flowsteer: 1, device: { parser } }));
    const capture = "test/captures/ip4-udp-good-chksum.pcap";
    const { out } = await flowsteer(["parse", capture, "--scenario", file, "--fields"]);
    expect(out).toMatch(/^ {2}misc4 +prog_sample_field_value_0 1966093000$/m);
    expect((await flowsteer(["parse", capture, "--fields"])).out).not.toContain("misc4");
    const none = await flowsteer(["parse", capture, "--scenario", "nope.json"]);
    expect(none).toMatchObject({ code: 2, out: "" });
    expect(none.err).toMatch(/^flowsteer: nope\.json: the file cannot be read/);
  });

  it("folds no line beyond 110 columns", async () => {
    const files = ["ipv4-options", "http-qinq-0", "ipv6-srh-ext-header", "gtp4_udp_2152_inside"];
    const { out } = await flowsteer(["parse", ...files.map((one) => `test/captures/${one}.pcap`), "--detail", "--hex"]);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(110);
  });

  it("stops after --limit frames, and passes over what it has no parser for", async () => {
    const limited = await flowsteer(["parse", "examples/everyday.pcap", "--limit", "2", "--json"]);
    expect(limited.out.split("\n").length).toBe(3);
    expect(limited.err).toBe("");
    const none = await flowsteer(["parse", "examples/everyday.pcap", "--limit", "0", "--json"]);
    expect(none).toEqual({ code: 0, out: "", err: "" });
  });
});

describe("messages of a scenario", () => {
  it("come before its frames, in lines and in the report, and need none", async () => {
    const { code, out, err } = await flowsteer(["run", "examples/messages.json", "--json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trimEnd().split("\n");
    expect(lines[2]).toBe('{"message":3,"queue":"feed","len":1,"status":"success","received":null}');
    expect(lines.map((line) => line.slice(2, 9))).toEqual([...Array<string>(5).fill("message"), 'frame":']);
    const document = {
      flowsteer: 1,
      queues: [
        { name: "a", type: "rc", peer: "b", buffers: 1 },
        { name: "b", type: "rc", peer: "a", buffers: 1 },
      ],
      messages: [{ queue: "a", hex: "01" }],
    };
    const file = scratch("messages.json", JSON.stringify(document));
    expect((await flowsteer(["run", file])).out).toMatch(/\n1 +1 {2}a to b {2}success {2}success\n$/);
    expect((await flowsteer(["check", file])).out).toContain("  messages     1\n");
  });
});

describe("flowsteer check", () => {
  it("says what scenarios hold", async () => {
    const { code, out, err } = await flowsteer(["check", "examples/everyday.json", "examples/ports.json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      "examples/everyday.json: good\n  queues       6  control, web, dns, mail, tenant-blue, slow\n",
    );
    expect(out).toContain("\n  rules       22  vxlan, guest vlans,");
    expect(out).toContain("examples/ports.json: good\n");
    expect(out).toMatch(/\n {2}expect +14\n$/);
    expect((await flowsteer(["check", "examples/flows-sending.json"])).out).toContain(
      "\n  flowCounters    1  sent web\n  flows           6  no mail, sent web, echo, discard, daytime, port 2, default\n  hostRules       2  ssh of the host, no telnet\n",
    );
  });
});

describe("times", () => {
  it("are UTC, or nanoseconds where no calendar has them", async () => {
    const { timeText } = await import("../../src/cli/report/frameText.js");
    expect(timeText(0n)).toBe("1970-01-01 00:00:00.000000");
    expect(timeText(1_000_000_000_123_456_789n)).toBe("2001-09-09 01:46:40.123456789");
    expect(timeText(-1n)).toBe("-1 ns");
    expect(timeText(253_402_300_799_999_999_000n)).toBe("9999-12-31 23:59:59.999999");
    expect(timeText(253_402_300_800_000_000_000n)).toBe("253402300800000000000 ns");
  });
});

describe("colour", () => {
  it("is for terminals, and not where NO_COLOR says so", async () => {
    const { painter } = await import("../../src/cli/text.js");
    const before = { ...process.env };
    try {
      delete process.env["NO_COLOR"];
      process.env["TERM"] = "xterm";
      expect(painter({ isTTY: true })("red", "x")).toBe("\u001b[31mx\u001b[39m");
      expect(painter({ isTTY: false })("red", "x")).toBe("x");
      process.env["NO_COLOR"] = "1";
      expect(painter({ isTTY: true })("red", "x")).toBe("x");
      process.env["NO_COLOR"] = "";
      expect(painter({ isTTY: true })("red", "x")).toBe("\u001b[31mx\u001b[39m");
      process.env["TERM"] = "dumb";
      expect(painter({ isTTY: true })("red", "x")).toBe("x");
    } finally {
      process.env = before;
    }
  });
});
