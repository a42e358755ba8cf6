/** flowsteer diff: what it prints, and its exit codes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { DiffLine } from "../../src/cli/report/diffLines.js";
import { PcapWriter } from "../../src/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { flowsteer, root, scratch } from "./support/command.js";

const SCHEMA = join(root, "schema/diff-1.schema.json");
const OLD = "examples/everyday.json";
const CAPTURE = "examples/everyday.pcap";

const judge = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(SCHEMA, "utf8")) as object,
);

interface Document {
  rules: { name: string; actions: unknown[] }[];
}

/** A scenario that differs from the everyday one. */
function changed(name: string, change: (rules: Document["rules"]) => void): string {
  const document = JSON.parse(readFileSync(join(root, OLD), "utf8")) as Document & { $schema?: string };
  delete document.$schema;
  change(document.rules);
  return scratch(name, JSON.stringify(document));
}

function rule(rules: Document["rules"], name: string): Document["rules"][number] {
  const found = rules.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no rule ${name}`);
  return found;
}

/** The lines that the command prints with --json, and its exit code. */
async function diffLines(...args: string[]): Promise<{ code: number | null; lines: DiffLine[] }> {
  const { code, out, err } = await flowsteer(["diff", ...args, "--json", "--quiet"]);
  expect(err).toBe("");
  const lines = out.trimEnd().split("\n");
  return {
    code,
    lines: lines.map((line) => {
      const record = JSON.parse(line) as DiffLine;
      expect(judge(record), `${line}\n${JSON.stringify(judge.errors)}`).toBe(true);
      return record;
    }),
  };
}

describe("rules that an import did not carry over wholly", () => {
  const incomplete = (name: string): string =>
    changed(name, (rules) => {
      Object.assign(rule(rules, "icmp"), { notImported: ["count 7: no counter"] });
      rules.push({ ...rule(rules, "icmp"), name: "icmp again" });
    });
  const note = (name: string): string => `note: rule ${name} lacks count 7: no counter\n`;

  it("are told of once, whether frames are treated alike or not", async () => {
    const path = incomplete("diff-incomplete.json");
    const { code, err } = await flowsteer(["diff", path, path.replace(/[^/]*$/, "./$&")]);
    expect({ code, err }).toEqual({ code: 0, err: note("icmp") + note("icmp again") });
    expect((await flowsteer(["diff", OLD, path, "--quiet"])).err).toBe("");
  });

  it("are told of where frames of a capture hit them", async () => {
    const { code, err } = await flowsteer(["diff", OLD, incomplete("diff-incomplete.json"), CAPTURE]);
    expect({ code, err }).toEqual({ code: 0, err: note("icmp") });
  });
});

describe("with a capture", () => {
  const ping = changed("diff-ping.json", (rules) => {
    rule(rules, "icmp").actions = ["drop"];
    rule(rules, "arp").actions.unshift({ tag: 7 });
    rule(rules, "vxlan").actions.shift();
  });

  it("says what was tried where neither a difference nor a proof was found", async () => {
    const document = JSON.parse(readFileSync(join(root, OLD), "utf8")) as { device?: object };
    const parser = { geneveOption0: { class: 258, type: 128 } };
    const other = scratch("diff-parser.json", JSON.stringify({ ...document, device: { ...document.device, parser } }));
    const { code, out } = await flowsteer(["diff", OLD, other]);
    expect(code).toBe(3);
    expect(out.replace(/\s+/g, " ")).toContain(
      "whether frames notice it is not known: the parser options of the device differ; tried: nothing: any frame may notice it",
    );
  });

  it("groups the frames that change, by how", async () => {
    const { code, lines } = await diffLines(OLD, ping, CAPTURE);
    expect(code).toBe(1);
    const groups = lines.flatMap((line) => (line.kind === "frames" ? [line] : []));
    expect(groups.map(({ kinds, frames }) => [kinds.join(), frames])).toEqual([
      ["verdict,destination", 6],
      ["counters", 4],
      ["tag", 2],
      ["counters", 2],
      ["counters", 1],
      ["counters", 1],
    ]);
    expect(groups[0]?.sentence).toBe(
      'frames with IP protocol icmp that rule "icmp" sent to queue "control" are now dropped by the same rule',
    );
    expect(groups[0]?.examples).toEqual([11, 18, 19, 20]);
    expect(groups[2]?.sentence).toBe(
      'frames with EtherType arp that rule "arp" sent to queue "control" now carry tag 7 instead of no tag',
    );
    expect(lines.at(-1)).toEqual({ kind: "sum", frames: 86, different: 16, groups: 6, partial: null });
  });

  it("leaves out what is ignored", async () => {
    const { lines } = await diffLines(OLD, ping, CAPTURE, "--ignore", "counters,tags");
    expect(lines.map(({ kind }) => kind)).toEqual(["frames", "sum"]);
    const { code, lines: none } = await diffLines(OLD, ping, CAPTURE, "--limit", "10", "--ignore", "counters,tags");
    expect({ code, none }).toEqual({
      code: 0,
      none: [{ kind: "sum", frames: 10, different: 0, groups: 0, partial: null }],
    });
  });

  it("counts names of rules as behaviour with --rules only", async () => {
    const renamed = changed("diff-renamed.json", (rules) => (rule(rules, "icmp").name = "ping"));
    expect((await diffLines(OLD, renamed, CAPTURE)).code).toBe(0);
    const { code, lines } = await diffLines(OLD, renamed, CAPTURE, "--rules");
    expect(code).toBe(1);
    expect(lines[0]).toMatchObject({ kind: "frames", kinds: ["rule"], frames: 6 });
  });

  it("is a report of 80 columns for people", async () => {
    const { code, out, err } = await flowsteer(["diff", OLD, ping, CAPTURE]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(out).toMatch(/^86 frames from examples\/everyday\.pcap; 16 of them \(18\.6 %\) are treated\ndifferently\n/);
    expect(out).toContain("  old    icmp: deliver to qp:control\n  new    icmp: action drop\n");
    const { code: same, out: alike } = await flowsteer(["diff", OLD, OLD, CAPTURE]);
    expect({ same, alike }).toEqual({
      same: 0,
      alike: "86 frames from examples/everyday.pcap; all are treated the same\n",
    });
  });

  it("runs both scenarios in the order of the frames, with their times, where rules have state", async () => {
    const text = readFileSync(join(root, "examples/state-meter.json"), "utf8");
    const { frames } = await loadScenario(text);
    const writer = new PcapWriter({ linkType: 1 });
    const chunks = [writer.header(), ...frames.map(({ bytes, time }) => writer.frame({ bytes, time: time ?? 0n }))];
    const capture = scratch("diff-meter.pcap", Buffer.concat(chunks));
    const { $schema: _, frames: __, expect: ___, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const document = JSON.stringify(rest);
    const old = scratch("diff-meter.json", document);
    const generous = scratch("diff-generous.json", document.replace('"cir":2000,"cbs":2', '"cir":2000,"cbs":3'));
    const { lines: same } = await diffLines(old, old, capture);
    expect(same).toEqual([{ kind: "sum", frames: frames.length, different: 0, groups: 0, partial: null }]);
    const { code, lines } = await diffLines(old, generous, capture);
    expect({ code, first: lines[0] }).toMatchObject({
      code: 1,
      first: { kinds: ["verdict", "destination", "counters"], before: { outcome: { verdict: "drop" } } },
    });
  });

  it("says where a capture breaks off", async () => {
    const cut = scratch("diff-cut.pcap", readFileSync(join(root, CAPTURE)).subarray(0, 4000));
    const { code, out } = await flowsteer(["diff", OLD, OLD, cut, "--quiet"]);
    expect(code).toBe(4);
    expect(out).toContain("cut off; all are treated");
  });
});

describe("in one line", () => {
  const summary = async (...args: string[]): Promise<{ code: number | null; out: string }> => {
    const { code, out, err } = await flowsteer(["diff", OLD, ...args, "--summary"]);
    expect(err).toBe("");
    expect(out.split("\n")).toHaveLength(2);
    return { code, out: out.replaceAll(/\/\S*\//g, "") };
  };

  it("says that scenarios are equal", async () => {
    const rest = changed("diff-rest.json", (rules) => {
      const copy = structuredClone(rule(rules, "icmp"));
      rules.push({ ...copy, name: "icmp again", priority: 99 } as Document["rules"][number]);
    });
    expect(await summary(rest)).toEqual({
      code: 0,
      out: "equal: examples/everyday.json and diff-rest.json; 1 change\n",
    });
  });

  it("names the first difference", async () => {
    const drops = changed("diff-drops.json", (rules) => (rule(rules, "icmp").actions = ["drop"]));
    const { code, out } = await summary(drops);
    expect(code).toBe(1);
    expect(out).toMatch(/^different: .*; 1 change; 1 difference; frames with IP protocol icmp .* are now dropped/);
  });

  it("names what is undecided", async () => {
    const document = JSON.parse(readFileSync(join(root, OLD), "utf8")) as { device?: object };
    const parser = { geneveOption0: { class: 258, type: 128 } };
    const other = scratch("diff-other.json", JSON.stringify({ ...document, device: { ...document.device, parser } }));
    expect(await summary(other)).toEqual({
      code: 3,
      out:
        "undecided: examples/everyday.json and diff-other.json; 1 change; 1 change undecided; the parser options of the device " +
        "differ; tried: nothing: any frame may notice it\n",
    });
  });
});

it("does not count why a frame is lost with --ignore reason", async () => {
  const scenario = (name: string, rules: object[]): string =>
    scratch(
      name,
      JSON.stringify({
        flowsteer: 1,
        queues: [{ name: "a" }],
        tables: [{ name: "root", level: 0 }],
        rules: [{ name: "web", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ queue: "a" }] }, ...rules],
      }),
    );
  const old = scenario("diff-misses.json", []);
  const other = scenario("diff-dropped.json", [{ name: "rest", table: "root", priority: 9, actions: ["drop"] }]);
  expect((await flowsteer(["diff", old, other])).code).toBe(1);
  expect((await flowsteer(["diff", old, other, "--ignore", "reason"])).code).toBe(0);
});

it("refuses a bad command line", async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await flowsteer(["diff", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    return err;
  };
  expect(await refused(OLD)).toContain("name two scenarios");
  expect(await refused(OLD, OLD, CAPTURE, "--ignore", "tag")).toContain("expected one or more of counters,tags,reason");
  expect(await refused(OLD, OLD, CAPTURE, "--port", "2")).toContain("the ports of both devices");
  expect(await refused(OLD, "none.json", CAPTURE)).toContain("none.json");
});
