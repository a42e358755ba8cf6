/** flowsteer trace: which frame it is about, the state that the frame meets, and its lines. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PcapWriter } from "../../src/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { flowsteer, root, scratch } from "./support/command.js";
import { explainLine, outcomesOf } from "./support/explainLines.js";

const EVERYDAY = ["examples/everyday.json", "examples/everyday.pcap"] as const;

/** What a line of `run --json` says of the end of a frame. */
function endOf({ verdict, reason, tag, rules, to, copies }: Record<string, unknown>): object {
  return { verdict, reason, tag, rules, to, copies };
}

async function tracedEnd(args: readonly string[]): Promise<object> {
  const { trace } = await explainLine("trace", ["trace", ...args]);
  const { to, copies, ...rest } = trace.outcome;
  const names = { to: to.map(({ name }) => name), copies: copies.map(({ name }) => name) };
  return endOf({ ...rest, ...names });
}

describe("the frame", () => {
  it.each(["state-meter", "state-firewall", "ports", "flows-sending", "rules-eswitch"])(
    "meets the state of its time: %s",
    async (name) => {
      const scenario = `examples/${name}.json`;
      const ends = (await outcomesOf([scenario])).map(endOf);
      const frames = [1, Math.ceil(ends.length / 2), ends.length - 1, ends.length];
      for (const frame of new Set(frames)) {
        expect(await tracedEnd([scenario, "--frame", String(frame)]), `frame ${frame}`).toEqual(ends[frame - 1]);
      }
    },
  );

  it("is one of a capture, after the frames before it", async () => {
    const { scenario, capture } = await meterCapture();
    const ends = (await outcomesOf([scenario, capture])).map(endOf);
    for (const frame of [1, 2, 3, ends.length]) {
      expect(await tracedEnd([scenario, capture, "--frame", String(frame)])).toEqual(ends[frame - 1]);
    }
    const everyday = (await outcomesOf(EVERYDAY)).map(endOf);
    for (const frame of [3, 58]) {
      expect(await tracedEnd([...EVERYDAY, "--frame", String(frame)])).toEqual(everyday[frame - 1]);
    }
  });

  it("is written on the command line", async () => {
    const packet = "ipv4 192.168.1.11 > 209.87.249.18 / udp 43966 > 53 / payload 20 bytes";
    const { frame, trace } = await explainLine("trace", ["trace", EVERYDAY[0], "--packet", packet]);
    expect(frame).toBeNull();
    expect(trace.outcome.rules).toEqual(["other ip", "dns query"]);
    const again = await explainLine("trace", ["trace", EVERYDAY[0], "--hex", trace.frame.bytes]);
    expect(again.trace).toEqual(trace);
    const raw = await explainLine("trace", ["trace", EVERYDAY[0], "--packet", `raw / ${packet}`]);
    expect(raw.trace.frame.linkType).toBe(101);
  });

  it("is sent by a queue, or arrives at a port", async () => {
    const scenario = "examples/flows-sending.json";
    const packet = ["--packet", "udp > 5000"];
    const { queues = [] } = (await loadScenario(readFileSync(join(root, scenario), "utf8"))).scenario;
    const queue = queues[0]?.name ?? "";
    const sent = await explainLine("trace", ["trace", scenario, ...packet, "--from", queue]);
    expect(sent.trace.from).toMatchObject({ kind: "queue" });
    const arrives = await explainLine("trace", ["trace", scenario, ...packet, "--port", "2"]);
    expect(arrives.trace.from).toEqual({ kind: "wire", port: 2 });
  });
});

describe("the text", () => {
  it("has at most 80 columns, and colour only where it is wanted", async () => {
    for (const frame of ["3", "58", "69"]) {
      const { code, out, err } = await flowsteer(["trace", ...EVERYDAY, "--frame", frame]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(out).not.toContain("\u001b");
      const { out: coloured } = await flowsteer(["trace", ...EVERYDAY, "--frame", frame, "--color", "always"]);
      expect(coloured).toContain("\u001b");
      // eslint-disable-next-line no-control-regex
      expect(coloured.replace(/\u001b\[\d+m/g, "").length).toBeGreaterThan(0);
    }
  });

  it("has the nearest rules where none matched", async () => {
    const { out } = await flowsteer(["trace", ...EVERYDAY, "--frame", "69"]);
    expect(out).toContain("near");
    const { near } = await explainLine("trace", ["trace", ...EVERYDAY, "--frame", "69"]);
    expect(near.length).toBeGreaterThan(0);
    expect(near.every(({ table }) => table.table === "services")).toBe(true);
    expect((await explainLine("trace", ["trace", ...EVERYDAY, "--frame", "1"])).near).toEqual([]);
  });
});

/** The frames of examples/state-meter.json as a capture, and the scenario without them. */
async function meterCapture(): Promise<{ scenario: string; capture: string }> {
  const text = readFileSync(join(root, "examples/state-meter.json"), "utf8");
  const { frames } = await loadScenario(text);
  const writer = new PcapWriter({ linkType: 1 });
  const chunks = [writer.header(), ...frames.map(({ bytes, time }) => writer.frame({ bytes, time: time ?? 0n }))];
  const { frames: _, expect: __, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return {
    scenario: scratch("meter.json", JSON.stringify(rest)),
    capture: scratch("meter.pcap", Buffer.concat(chunks)),
  };
}

describe("a refused command", () => {
  it.each<[string, string[], string]>([
    ["no scenario", ["trace"], "trace: name a scenario or rules: flowsteer trace RULES [CAPTURE] --frame N\n"],
    ["no frame of a capture", ["trace", ...EVERYDAY], "trace: select a frame of the capture with --frame N\n"],
    [
      "no frame of the scenario",
      ["trace", "examples/ports.json"],
      "trace: select one of the 7 frames with --frame N\n",
    ],
    ["a frame beyond the last", ["trace", ...EVERYDAY, "--frame", "87"], "--frame 87: there are only 86 frames\n"],
    [
      "a frame of the scenario beyond the last",
      ["trace", "examples/ports.json", "--frame", "8"],
      "--frame 8: there are only 7 frames\n",
    ],
    [
      "a scenario without frames",
      ["trace", EVERYDAY[0], "--frame", "1"],
      "examples/everyday.json: no frames: add a capture after the rules, or use --packet or --hex: flowsteer trace RULES CAPTURE --frame N\n",
    ],
    [
      "two frames",
      ["trace", ...EVERYDAY, "--hex", "00"],
      "only one of these can be given: examples/everyday.pcap, --hex\n",
    ],
    [
      "a frame and its number",
      ["trace", EVERYDAY[0], "--packet", "tcp", "--frame", "1"],
      "--frame and --packet cannot be used together\n",
    ],
    [
      "a port and a queue",
      ["trace", EVERYDAY[0], "--packet", "tcp", "--port", "1", "--from", "web"],
      "--port and --from cannot be used together\n",
    ],
    [
      "a queue that is not there",
      ["trace", EVERYDAY[0], "--packet", "tcp", "--from", "wbe"],
      "--from wbe: queue pairs: control, web, dns, mail, tenant-blue, slow\n",
    ],
    ["digits", ["trace", EVERYDAY[0], "--hex", "00 0g"], '--hex 00 0g: "g" is not a hexadecimal digit\n'],
    ["half a byte", ["trace", EVERYDAY[0], "--hex", "000"], "--hex 000: odd number of digits (3); a byte has two\n"],
    [
      "a header",
      ["trace", EVERYDAY[0], "--packet", "ipv4 / tpc > 80"],
      '--packet: column 8 = "tpc": no header has this name\n  did you mean "tcp"? headers: ethernet, vlan, loopback, linux_cooked, linux_cooked_v2, arp, ipv4, ipv6, ipv6_hop_by_hop, ipv6_routing, ipv6_destination, ipv6_fragment, ah, tcp, udp, icmp, icmpv6, vxlan, sctp, gre, vxlan_gpe, geneve, gtpu, gtpu_extension, mpls, esp, bth, macsec, nsh, payload, trailer, raw\n',
    ],
    [
      "a port that is not there",
      ["trace", EVERYDAY[0], "--packet", "tcp", "--port", "2"],
      "--port 2: expected a whole number, only 1: the ports of the scenario's device\n",
    ],
  ])("%s", async (_, args, message) => {
    expect(await flowsteer(args)).toEqual({ code: 2, out: "", err: `flowsteer: ${message}` });
  });
});
