/** flowsteer why: targets, --all, and lines. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PcapWriter } from "../../src/index.js";
import { buildFrame } from "../../src/packet/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { flowsteer, root, scratch } from "./support/command.js";
import { explainLine, explainLines, outcomesOf } from "./support/explainLines.js";

const EVERYDAY = ["examples/everyday.json", "examples/everyday.pcap"] as const;

describe("a target", () => {
  const frame = ["--packet", "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 81 [.]"];

  it.each<[string, object]>([
    ["--rule http", { kind: "rule", name: "http" }],
    ["--table services", { kind: "table", name: "services" }],
    ["--queue web", { kind: "queue", name: "qp:web" }],
    ["--vport 0", { kind: "vport", vport: 0 }],
    ["--tag 80", { kind: "tag", tag: 80 }],
    ["--counter web-frames", { kind: "counter", name: "web-frames" }],
    ["--twice", { kind: "twice" }],
    ["", { kind: "end" }],
  ])("%s", async (target, data) => {
    const args = target === "" ? [] : target.split(" ");
    const { frame: number, explanation } = await explainLine("why", ["why", EVERYDAY[0], ...frame, ...args]);
    expect(number).toBeNull();
    expect(explanation.target).toEqual(data);
    expect(explanation.sentence.length).toBeGreaterThan(10);
  });

  it("is a flow", async () => {
    const { flows } = await loadScenario(readFileSync(join(root, "examples/flows-vxlan.json"), "utf8"));
    const name = [...flows.keys()][0] ?? "";
    const { explanation } = await explainLine("why", [
      "why",
      "examples/flows-vxlan.json",
      "--frame",
      "2",
      "--flow",
      name,
    ]);
    expect(explanation.target).toEqual({ kind: "flow", name });
  });

  it("has the fields that differ, the differing bits marked", async () => {
    const { out } = await flowsteer(["why", EVERYDAY[0], ...frame, "--rule", "http"]);
    expect(out).toContain("outer.tcp_dport");
    expect(out).toContain("^");
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const { out: coloured } = await flowsteer(["why", EVERYDAY[0], ...frame, "--rule", "http", "--color", "always"]);
    expect(coloured).toContain("\u001b[4m");
  });

  it("stands alone, and is there", async () => {
    const refused = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await flowsteer(["why", ...args]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      return err;
    };
    expect(await refused(EVERYDAY[0], ...frame, "--rule", "http", "--queue", "web")).toBe(
      "flowsteer: only one target can be given: --rule, --queue\n",
    );
    expect(await refused(EVERYDAY[0], ...frame, "--rule", "htpp")).toMatch(/htpp.*http/s);
    expect(await refused(EVERYDAY[0], ...frame, "--vport", "1")).toContain("0 is the PF");
    expect(await refused(EVERYDAY[0], ...frame, "--tag", "7x")).toContain("0 to 4294967295");
    expect(await refused(EVERYDAY[0], ...frame, "--counter", "web-frame")).toMatch(/web-frame.*web-frames/s);
    expect(await refused(...EVERYDAY, "--all", "--tag", "7")).toContain("--tag and --all cannot be used together");
    expect(await refused(...EVERYDAY, "--all", "--rule", "http")).toContain("--rule and --all cannot be used together");
    expect(await refused(...EVERYDAY, "--limit", "3")).toContain("--limit needs --all");
    expect(await refused()).toContain("name a scenario");
  });
});

describe("a number of a connection that the frame failed", () => {
  const file = "test/explain/catalogue/state/out-of-window.json";
  const says = /beyond 1501, the end of the window of the other side \(1501 since frame 2\)/;

  it("names the frame that left it: of the scenario, and of a capture", async () => {
    const { explanation } = await explainLine("why", ["why", file, "--frame", "4"]);
    expect(explanation.sentence).toMatch(says);
    const { frames } = await loadScenario(readFileSync(join(root, file), "utf8"));
    const writer = new PcapWriter({ linkType: 1 });
    const records = frames.map(({ bytes }, n) => writer.frame({ bytes, time: BigInt(n) }));
    const capture = scratch("window.pcap", Buffer.concat([writer.header(), ...records]));
    const ofCapture = await explainLine("why", ["why", file, capture, "--frame", "4"]);
    expect(ofCapture.explanation.sentence).toMatch(says);
  });

  it("has no frame where the scenario gives it", async () => {
    const packet = "ipv4 192.0.2.80 > 10.0.0.1 / tcp 80 > 40000 [.] seq 90501";
    const { explanation } = await explainLine("why", ["why", file, "--packet", packet]);
    expect(explanation.sentence).not.toContain("since frame");
  });
});

/** The numbers of lost frames by verdict, reason and rules, as `run` has them. */
async function lostBy(args: readonly string[]): Promise<Map<string, number>> {
  const lost = new Map<string, number>();
  for (const { verdict, reason } of await outcomesOf(args)) {
    if (verdict !== "miss" && verdict !== "drop") continue;
    const key = `${String(verdict)} ${String(reason)}`;
    lost.set(key, (lost.get(key) ?? 0) + 1);
  }
  return lost;
}

/** The same sums over the groups; each group is checked for itself. */
async function groupedBy(args: readonly string[]): Promise<Map<string, number>> {
  const lines = await explainLines(["why", ...args, "--all"]);
  const outcomes = await outcomesOf(args);
  const lost = new Map<string, number>();
  let all = 0;
  let groups = 0;
  for (const line of lines) {
    if (line.kind === "group") {
      const { frames, examples, verdict, reason, explanation } = line;
      expect(examples.length).toBe(Math.min(frames, 4));
      for (const frame of examples) expect(outcomes[frame - 1]).toMatchObject({ verdict, reason });
      expect(explanation?.target).toEqual({ kind: "end" });
      const key = `${verdict} ${String(reason)}`;
      lost.set(key, (lost.get(key) ?? 0) + frames);
      all += frames;
      groups++;
    } else {
      const sums = { frames: outcomes.length, lost: all, unclaimed: 0, groups, partial: null };
      expect(line).toEqual({ kind: "sum", ...sums, lostCopies: expect.any(Object) as object });
    }
  }
  return lost;
}

describe("--all", () => {
  it("reports a queue that RSS gave far more than its share, as text and as a line", async () => {
    const rules = scratch(
      "rss.testpmd",
      "flow create 0 ingress pattern eth / ipv4 / udp / end actions rss types ipv4-udp end queues 0 1 2 3 end / end\n",
    );
    const writer = new PcapWriter({ linkType: 1 });
    const bytes = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", source_port: 7 }]);
    const frames = Array.from({ length: 80 }, (_, n) => writer.frame({ bytes, time: BigInt(n) }));
    const capture = scratch("flow.pcap", Buffer.concat([writer.header(), ...frames]));
    const { code, out } = await flowsteer(["why", rules, capture, "--all", "--quiet"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^RSS spread 80 frames unevenly, rule \S+rss\.testpmd:1: frames \d+, \d+, \d+, \d+, \.\.\.$/m);
    expect(out.replace(/\s+/g, " ")).toMatch(
      /qp:queue \d got 100\.0 % of them with 25\.0 % of the table: all have the hash input /,
    );
    const lines = await explainLines(["why", rules, capture, "--all", "--quiet"]);
    expect(lines.map(({ kind }) => kind)).toEqual(["spread", "sum"]);
    expect(lines[0]).toMatchObject({ rule: `${rules}:1`, frames: 80, share: 0.25 });
  });

  it.each(["everyday", "state-meter", "state-firewall", "ports", "tunnel", "flows-sending", "flows-esp"])(
    "counts every lost frame of %s once",
    async (name) => {
      const args = name === "everyday" ? EVERYDAY : [`examples/${name}.json`];
      expect(await groupedBy(args)).toEqual(await lostBy(args));
    },
  );

  it("explains the frames of a capture with the state of their time", async () => {
    const text = readFileSync(join(root, "examples/state-meter.json"), "utf8");
    const { frames } = await loadScenario(text);
    const writer = new PcapWriter({ linkType: 1 });
    const chunks = [writer.header(), ...frames.map(({ bytes, time }) => writer.frame({ bytes, time: time ?? 0n }))];
    const { frames: _, expect: __, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const scenario = scratch("meter-all.json", JSON.stringify(rest));
    const capture = scratch("meter-all.pcap", Buffer.concat(chunks));
    expect(await groupedBy([scenario, capture])).toEqual(await lostBy([scenario, capture]));
    const [group] = await explainLines(["why", scenario, capture, "--all"]);
    if (group?.kind !== "group") throw new Error("no group");
    const frame = String(group.examples[0]);
    const { explanation } = await explainLine("why", ["why", scenario, capture, "--frame", frame]);
    expect(group.explanation).toEqual(explanation);
    const { code, err } = await flowsteer(["why", scenario, "-", "--all"], { stdin: Buffer.concat(chunks) });
    expect({ code, err }).toEqual({
      code: 2,
      err: "flowsteer: standard input: rules with state need a second pass over the capture; name a file\n",
    });
  });

  it("keeps frames apart that failed other checks of a connection", async () => {
    const lines = await explainLines(["why", "examples/state-firewall.json", "--all"]);
    const groups = lines.flatMap((line) => (line.kind === "group" ? [line] : []));
    expect(groups.map(({ examples }) => examples)).toEqual([[1, 11], [7], [9]]);
    const said = groups.map(({ explanation }) => explanation?.sentence ?? "");
    expect(said[0]).toContain("it is a SYN-ACK, which a connection in the state empty does not accept");
    expect(said[1]).toContain("it has the sequence number 90501, beyond 1501");
  });

  it("counts copies that reached no destination, as run does", async () => {
    const scenario = {
      flowsteer: 1,
      queues: [{ name: "app" }, { name: "mirror", buffers: 1 }],
      tables: [{ name: "root", level: 0 }],
      rules: [{ name: "both", table: "root", actions: [{ array: [{ queue: "mirror" }, { queue: "app" }] }] }],
      frames: Array.from({ length: 4 }, () => ({ headers: [{ header: "ethernet" }, { header: "ipv4" }] })),
    };
    const file = scratch("mirror.json", JSON.stringify(scenario));
    const { out } = await flowsteer(["why", file, "--all"]);
    expect(out).toContain("\n3 copies of frames reached no destination: no receive buffer was left (3)\n");
    const lines = await explainLines(["why", file, "--all"]);
    expect(lines).toEqual([expect.objectContaining({ kind: "sum", lost: 0, lostCopies: { no_receive_buffer: 3 } })]);
    expect((await flowsteer(["run", file])).out).toMatch(/^Copies lost +copies\nno receive buffer was left +3$/m);
  });

  it("is one screen of 80 columns", async () => {
    const { code, out, err } = await flowsteer(["why", ...EVERYDAY, "--all"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(out.split("\n").length).toBeLessThan(50);
    expect(out).toMatch(/^86 frames from examples\/everyday\.pcap; 17 of them \(19\.8 %\) missed/);
  });

  it("says where a capture breaks off, and takes standard input", async () => {
    const whole = readFileSync(join(root, EVERYDAY[1]));
    const stdin = whole.subarray(0, whole.length - 5);
    const { code, out, err } = await flowsteer(["why", EVERYDAY[0], "-", "--all"], { stdin });
    expect(code).toBe(4);
    expect(out).toMatch(/^85 frames from standard input, partial: standard input cut off; /);
    expect(err).toContain("breaks off at byte");
  });

  it("stops after --limit frames, and says when nothing was lost", async () => {
    const { out } = await flowsteer(["why", ...EVERYDAY, "--all", "--limit", "3"]);
    expect(out).toBe("3 frames from examples/everyday.pcap\nNone of them missed or was dropped.\n");
  });
});
