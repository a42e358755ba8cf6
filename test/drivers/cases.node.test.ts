/** Reported trouble with drivers (test/drivers/cases/README.md): the answers that were right. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cover } from "../../src/explain/index.js";
import { importRules, type ImportOptions, type ImportResult } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";

import { loadScenario } from "../../src/scenario/index.js";
import { decodeAll } from "../packet/support/captureHelpers.js";

const file = (name: string): URL => new URL(`cases/${name}`, import.meta.url);
const text = (name: string): string => readFileSync(file(name), "utf8");
const read = (name: string, options: ImportOptions = {}): ImportResult =>
  importRules([{ file: name, text: text(name) }], options);

/** Where frames arrive, and how many. */
async function arrivals({ scenario, findings }: ImportResult, frames: readonly Uint8Array[]): Promise<object> {
  if (scenario === null) throw new Error(JSON.stringify(findings));
  const { device } = await loadScenario(scenario);
  const counts: Record<string, number> = {};
  for (const [n, frame] of frames.entries()) {
    const { to, verdict } = device.receive(1, frame, { time: BigInt(n) * 6400n });
    const name = to[0]?.name ?? verdict;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe("ethtool", () => {
  test("GRE to queue 0, and frames without a rule to the queues of the default context", async () => {
    const frames = decodeAll(readFileSync(file("ethtool-gre.pcap"))).frames.map(({ bytes }) => bytes);
    // Three frames to port 8001 and one of GRE; three without a rule.
    expect(await arrivals(read("ethtool-gre.sh"), frames)).toEqual({
      "qp:ens1f0np0 queue 0": 4,
      "qp:ens1f0np0 queue 1": 2,
      "qp:ens1f0np0 queue 3": 1,
    });
  });

  test("contexts, with one hash for both directions", () => {
    const { scenario, findings } = read("ethtool-contexts.sh");
    expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
    expect(findings.find(({ reason }) => reason.includes("EINVAL"))?.line).toBe(10);
    expect(scenario?.rules?.map(({ name }) => name)).toEqual([
      "eth0 1022",
      "eth0 1023",
      "eth0 1021",
      "driver: eth0 receives",
    ]);
    expect(scenario?.tirs?.map(({ name, rx_hash_symmetric }) => [name, rx_hash_symmetric])).toEqual([
      ["eth0 context 2 UDP over IPv6", undefined],
      ["eth0 context 1 TCP over IPv4", true],
    ]);
    expect(scenario?.rqts?.map(({ queues }) => queues.length)).toEqual([128, 8]);
  });

  test("a listing has the context of a rule, over all rings", () => {
    const { scenario } = read("ethtool-listing.txt");
    expect(scenario?.rqts?.map(({ name, queues }) => [name, queues.length])).toEqual([["eth0 context 1", 8]]);
  });
});

test("Open vSwitch: green frames of a meter reach the VF", async () => {
  const frame = buildFrame(parsePacket("ipv4 192.0.2.1 > 192.0.2.2 / udp 5000 > 5201").layers);
  const counts = await arrivals(
    read("ovs-meter.sh"),
    Array.from({ length: 20_000 }, () => frame),
  );
  expect(Object.keys(counts).sort()).toEqual(["drop", "qp:vf1"]);
});

describe("connections that are not offloaded", () => {
  const said = ({ findings }: ImportResult): string[] =>
    findings.filter(({ text: of }) => /^(?:ct|\+trk)/.test(of)).map(({ line, reason }) => `${line}: ${reason}`);

  test("of ICMP, and of filters with skip_sw: said with their lines, and no rule for them is hit", async () => {
    const read29 = read("tc-ct-icmp.sh");
    const notes = said(read29);
    expect(notes.map((one) => one.slice(0, 2))).toEqual(["2:", "3:", "4:", "2:", "3:"]);
    expect(notes[2]).toContain("the kernel offloads connections of TCP, UDP and GRE only (act_ct.c)");
    expect(notes[3]).toContain("with skip_sw the kernel does not execute ct");
    const { rules } = await cover((await loadScenario(read29.scenario ?? "")).device);
    const verdicts = new Map(rules.map(({ rule, coverage }) => [rule.name, coverage.status]));
    expect(verdicts.get("eth0 prio 1")).toBe("witness");
    expect(verdicts.get("eth0 chain 1 prio 2")).toBe("none");
  });

  test("of TCP: with skip_sw; without it they are", () => {
    expect(said(read("tc-ct-tcp.sh", { lenient: true }))[0]).toContain(
      "2: with skip_sw the kernel does not execute ct",
    );
    const soft = text("tc-ct-tcp.sh").replaceAll(" skip_sw", "");
    expect(said(importRules(soft, { lenient: true }))[0]).toContain(
      "2: all frames are taken as part of established connections",
    );
    // One filter in software makes the connections of the zone.
    const one = text("tc-ct-tcp.sh").replace(" skip_sw", "");
    expect(said(importRules(one, { lenient: true })).join()).not.toContain("skip_sw");
    expect(said(read("tc-ct-icmp.sh", { driver: "none" })).join()).not.toContain("offload");
  });
});

describe("flows of the datapath", () => {
  test("a short one is one rule, whatever it has counted", () => {
    const { scenario } = read("dpctl-short.txt", { map: { 2: "uplink", 3: "vf1" } });
    const own = scenario?.rules?.filter(({ name }) => name?.startsWith("in_port"));
    expect(own?.map(({ actions }) => actions)).toEqual([[{ vport: 1 }]]);
  });

  test("lines that a terminal cut are named where they are cut", () => {
    const { findings } = read("dpctl-cut.txt", { lenient: true, map: { rep1: "vf1" } });
    const cut = findings.filter(({ reason }) => reason.includes("is cut at"));
    expect(cut.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'the line is cut at "ct11)": write the output to a file'],
    ]);
  });
});

describe("testpmd", () => {
  const refusals = (name: string, options: ImportOptions = {}): string[] =>
    read(name, { lenient: true, ...options })
      .findings.filter(({ severity }) => severity === "refused")
      .map(({ line, text: of, reason }) => `${line}: ${of}: ${reason}`);

  test("layer 4 without layer 3, and eth behind ipv4, are refused as mlx5 does", () => {
    const L3 = "mlx5 refuses udp without ipv4 or ipv6 before it: L3 is mandatory to filter on L4";
    expect(refusals("testpmd-layers.txt")).toEqual([
      `3: udp: ${L3}`,
      `4: udp: ${L3}`,
      "5: eth: mlx5 refuses eth behind an IP item: L2 does not follow L3",
    ]);
    expect(refusals("testpmd-layers.txt", { driver: "none" })).toEqual([]);
    expect(refusals("testpmd-layers.txt", { driver: "mlx5-pmd-hws" })).toEqual([]);
    const tunnel =
      "flow create 0 ingress pattern eth / ipv4 / udp dst is 4789 / vxlan / eth / ipv4 / tcp / end actions drop / end";
    expect(importRules(tunnel).findings.filter(({ severity }) => severity === "refused")).toEqual([]);
    const bare = importRules(tunnel.replace("vxlan / eth / ipv4 /", "vxlan /")).findings;
    expect(bare.map(({ reason }) => reason).join()).toContain("mlx5 refuses tcp without ipv4 or ipv6");
  });

  test("marks end at 0xffffef", () => {
    const mark = (id: string): string =>
      `flow create 0 ingress pattern eth / ipv4 / end actions mark id ${id} / queue index 0 / end`;
    const said = (id: string): string =>
      importRules(mark(id))
        .findings.map(({ reason }) => reason)
        .join();
    expect(said("16777199")).not.toContain("refuses marks");
    expect(said("16777200")).toContain("mlx5 refuses marks above 0xffffef");
  });
});

describe("identical flows of the verbs", () => {
  test("with another tag: refused, naming the other flow and its tag", async () => {
    await expect(loadScenario(text("flow-tag.json"))).rejects.toThrow(
      /EEXIST[^]*f1 asks for the same frames and has the tag 17/,
    );
  });

  test("without tags both get the frame", async () => {
    const loaded = await loadScenario(text("flow-twice.json"));
    const [outcome] = loaded.run(loaded.frames);
    expect(outcome?.to.map(({ name }) => name)).toEqual(["qp:a", "qp:b"]);
  });
});
