/** flowsteer run --annotate: the capture with a comment at each frame. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { blocksOf, commentsOf } from "../packet/support/blocks.js";
import { decodeAll } from "../packet/support/captureHelpers.js";
import { WEB_FRAME, withRules } from "../scenario/support/documents.js";
import { flowsteer, root, scratch } from "./support/command.js";

const SCENARIO = "examples/everyday.json";
const CAPTURE = "examples/everyday.pcap";

/** A line of --json. */
interface Line {
  verdict: string;
  rules: string[];
  to: string[];
  tag: number | null;
}

const read = (path: string): Uint8Array => Uint8Array.from(readFileSync(path));

/** The comments of each packet. */
function comments(file: Uint8Array): string[][] {
  return blocksOf(file).flatMap((one) => (one.type === 6 || one.type === 2 ? [commentsOf(one)] : []));
}

async function ran(...args: string[]): Promise<string> {
  const { code, out, err } = await flowsteer(["run", ...args]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

async function annotated(...args: string[]): Promise<Uint8Array> {
  const path = scratch("annotated.pcapng");
  await ran(...args, "--annotate", path);
  return read(path);
}

describe("a comment", () => {
  it("says of every frame what --json says", async () => {
    const lines = (await ran(SCENARIO, CAPTURE, "--json")).trimEnd().split("\n");
    const found = comments(await annotated(SCENARIO, CAPTURE)).map(([comment = ""]) => comment);
    expect(found).toHaveLength(lines.length);
    for (const [i, line] of lines.entries()) {
      const { verdict, rules, to, tag } = JSON.parse(line) as Line;
      const parts = [`flowsteer: ${verdict}`, ...rules.map((name) => `"${name}"`), ...to];
      for (const part of [...parts, ...(tag === null ? [] : [`tag ${tag}`])]) expect(found[i]).toContain(part);
    }
    expect(found[57]).toContain('flowsteer: drop: no rule matched in table overlay of nic_rx; rule "vxlan"; why: ');
    expect(found[81]).toContain("; why (as frame 76): ");
  });

  it("says why a frame was lost", async () => {
    const [first = [], second = []] = comments(await annotated("examples/why-vxlan.json"));
    expect(first).toEqual(['flowsteer: deliver to qp:blue; rules "tunnels", "net 5001", "to blue"']);
    expect(second[0]).toContain("; why: no flow or rule of the PF accepts the frame");
    expect(second[0]).toContain("UDP port 8472 is not 4789");
    expect(second[0]).toContain("; looks like tunnel-on-other-port");
  });

  it("has the answer of a meter, and no reason that a later state gives", async () => {
    const meter = comments(await annotated("examples/why-meter.json")).map(([comment]) => comment);
    expect(meter).toEqual([
      ...Array.from({ length: 2 }, () => expect.stringMatching(/; meter contract green$/)),
      'flowsteer: drop: action drop; rules "web", "meter", "too much"; meter contract red',
      expect.stringMatching(/; meter contract green$/),
    ]);
  });

  it("is the same where each frame has an outcome of its own", async () => {
    const other = scratch("other.pcapng");
    const file = await annotated(SCENARIO, CAPTURE);
    await ran(SCENARIO, CAPTURE, "--json", "--annotate", other);
    expect(read(other)).toEqual(file);
    await ran(SCENARIO, CAPTURE, "--format", "csv", "--annotate", other);
    expect(read(other)).toEqual(file);
  });

  it("is the same with several cores", async () => {
    const many = Array.from({ length: 40 }, () => CAPTURE);
    const one = await annotated(SCENARIO, ...many);
    expect(await annotated(SCENARIO, ...many, "--workers", "2")).toEqual(one);
    expect(comments(one)).toHaveLength(40 * 86);
    const state = "examples/state-firewall.json";
    expect(await annotated(state)).toEqual(await annotated(state));
  });

  it("says why a frame was not steered", async () => {
    const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: 147 }] });
    const frames = [1, 0].map((interfaceId) => writer.frame({ time: 0n, bytes: new Uint8Array(60), interfaceId }));
    const file = await annotated(
      SCENARIO,
      scratch("skipped.pcapng", Buffer.concat([writer.header(), ...frames])),
      "--quiet",
    );
    expect(comments(file)[0]?.[0]).toMatch(/^flowsteer: not steered: link type .*147/);
    expect(comments(file)[1]?.[0]).toMatch(/^flowsteer: /);
  });

  it("has a tag for each frame of a class, and no control characters", async () => {
    const scenario = scratch(
      "tags.json",
      JSON.stringify({
        ...withRules({ name: "a\nb", match: { "outer.tcp_dport": 443 }, actions: [{ tag: 5 }, { queue: "web" }] }),
        frames: [{ hex: WEB_FRAME }],
      }),
    );
    const [[comment] = []] = comments(await annotated(scenario));
    expect(comment).toBe('flowsteer: deliver to qp:web; rule "a\\x0ab"; tag 5');
  });
});

describe("frames", () => {
  it("are cut by --limit, and chosen by --frame", async () => {
    const { frames } = decodeAll(read(`${root}/${CAPTURE}`));
    const all = comments(await annotated(SCENARIO, CAPTURE));
    const ten = await annotated(SCENARIO, CAPTURE, "--limit", "10");
    expect(comments(ten)).toEqual(all.slice(0, 10));
    const seventeen = await annotated(SCENARIO, CAPTURE, "--frame", "17");
    expect(decodeAll(seventeen).frames.map(({ bytes }) => bytes)).toEqual([frames[16]?.bytes]);
    expect(comments(seventeen)).toEqual([all[16]]);
    const none = await annotated(SCENARIO, CAPTURE, "--limit", "0");
    expect(blocksOf(none).map(({ type }) => type)).toEqual([0x0a0d0d0a]);
  });

  it("of a capture that is cut are whole", async () => {
    const path = scratch("cut.pcapng");
    const cut = scratch("cut.pcap", read(`${root}/${CAPTURE}`).subarray(0, 5000));
    const { code } = await flowsteer(["run", SCENARIO, cut, "--annotate", path]);
    expect(code).toBe(4);
    const { frames, end } = decodeAll(read(path));
    expect(end.broken).toBeNull();
    expect(frames).toHaveLength(decodeAll(read(cut)).frames.length);
  });

  it("are told in the report", async () => {
    const path = scratch("told.pcapng");
    expect(await ran(SCENARIO, CAPTURE, "--annotate", path)).toContain(`\nwrote ${path}: 86\n`);
  });
});

describe("the output", () => {
  it("is standard output for -, in place of the report", async () => {
    const file = await annotated(SCENARIO, CAPTURE);
    const { code, out, err } = await flowsteer(["run", SCENARIO, CAPTURE, "--annotate", "-"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(new TextDecoder().decode(file));
  });

  it.each([
    ["a folder that is missing", "no/such/file.pcapng", "no such folder; check the path"],
    ["a folder", ".", "it is a folder; name a file"],
    ["an input", CAPTURE, "this run reads it; choose another file for --annotate"],
  ])("that is %s is refused in one line", async (_, path, why) => {
    const { code, out, err } = await flowsteer(["run", SCENARIO, CAPTURE, "--annotate", path]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toContain(`flowsteer: ${path}: `);
    expect(err).toContain(why);
  });

  it.each([
    [["--annotate", "-", "--json"], "standard output"],
    [["--annotate", "-", "--format", "csv"], "standard output"],
    [
      ["--annotate", scratch("both"), "--format", "csv", "--output", scratch("both")],
      "--output writes to the same file",
    ],
    [["--annotate"], "--annotate needs a value"],
  ])("%j is refused", async (options, why) => {
    const { code, out, err } = await flowsteer(["run", SCENARIO, CAPTURE, ...options]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(why);
  });

  it("is not made where an input is refused", async () => {
    const path = scratch("never.pcapng");
    const { code } = await flowsteer(["run", SCENARIO, "no-such.pcap", "--annotate", path]);
    expect({ code, made: existsSync(path) }).toEqual({ code: 2, made: false });
  });
});
