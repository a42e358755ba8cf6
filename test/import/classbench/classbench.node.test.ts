/** Rule sets and traces of ClassBench: frames of a trace hit the line that an exhaustive search found. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LinearSearch, readRules, readTrace } from "../../../bench/classify/ruleSets.js";
import { importRules, type ImportResult } from "../../../src/import/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { rounds } from "../../support/tier.js";

const FOLDER = new URL("../../../bench/rulesets/", import.meta.url);
const textOf = (name: string): string => gunzipSync(readFileSync(new URL(name, FOLDER))).toString();
const read = (...texts: string[]): ImportResult => importRules(texts.map((text, n) => ({ file: `${n}.txt`, text })));

test.each(["acl1", "fw1", "ipc1"] as const)("%s: each header of a trace", async (set) => {
  const trace = textOf(`${set}_1k.uniform.trace.gz`).trim().split("\n").slice(0, rounds(10_000));
  const { scenario } = read(textOf(`${set}_1k.rules.gz`), trace.join("\n"));
  const rules = readRules(set, "1k");
  const search = new LinearSearch(rules);
  const { headers } = readTrace(set, "1k", "uniform");
  const { device, frames } = await loadScenario(scenario as Scenario);
  expect(frames.length).toBe(trace.length);
  let hits = 0;
  frames.forEach(({ bytes }, n) => {
    const protocol = headers[n * 4 + 3];
    if (protocol !== 6 && protocol !== 17) return;
    const line = search.find(headers, n);
    const { tag, to } = device.receive(1, bytes);
    expect(to.length === 0 ? -1 : tag, `${set}: ${trace[n]}`).toBe(line);
    if (line >= 0) hits++;
  });
  expect(hits).toBeGreaterThan(0);
});

describe("lines", () => {
  const rulesOf = (line: string): unknown =>
    read(line)
      .scenario?.rules?.slice(1)
      .map(({ match }) => match);

  test.each([
    [
      "@10.0.0.0/8 192.168.1.1/32 0 : 65535 80 : 80 0x06/0xFF",
      [
        {
          "outer.ip_version": 4,
          "outer.ipv4_src": "10.0.0.0/8",
          "outer.ipv4_dst": "192.168.1.1",
          "outer.ip_protocol": 6,
          "outer.tcp_dport": 80,
        },
      ],
    ],
    ["@0.0.0.0/0\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0x00/0x00\t0x0000/0x0000\t", [{ "outer.ip_version": 4 }]],
    [
      "@fd00::/8 2001:db8::1/128 5:9 0:65535 0x11/0xff",
      [
        {
          "outer.ip_version": 6,
          "outer.ipv6_src": "fd00::/8",
          "outer.ipv6_dst": "2001:db8::1",
          "outer.ip_protocol": 17,
          "outer.udp_sport": "5-9",
        },
      ],
    ],
    [
      "@1.0.0.0/8 2.0.0.0/8 0 : 65535 1 : 2 0x00/0x00",
      [
        {
          "outer.ip_version": 4,
          "outer.ipv4_src": "1.0.0.0/8",
          "outer.ipv4_dst": "2.0.0.0/8",
          "outer.ip_protocol": 6,
          "outer.tcp_dport": "1-2",
        },
        {
          "outer.ip_version": 4,
          "outer.ipv4_src": "1.0.0.0/8",
          "outer.ipv4_dst": "2.0.0.0/8",
          "outer.ip_protocol": 17,
          "outer.udp_dport": "1-2",
        },
      ],
    ],
  ])("%s", (line, expected) => {
    expect(rulesOf(line)).toEqual(expected);
  });

  test.each([
    ["@10.0.0.0/8 192.168.1.1/33 0 : 65535 80 : 80 0x06/0xFF", "1:13: 192.168.1.1/33: a network is an address"],
    ["@10.0.0.0/8 192.168.1.1/1.5 0 : 65535 80 : 80 0x06/0xFF", "1:13: 192.168.1.1/1.5: a network is an address"],
    ["@10.0.0.0/8 192.168.1.1/32 0 : 65536 80 : 80 0x06/0xFF", "1:32: 65536: it is a number of 16 bits"],
    ["@10.0.0.0/8 192.168.1.1/32 9 : 5 80 : 80 0x06/0xFF", "1:28: 9: the first port of a range"],
    ["@10.0.0.0/8 192.168.1.1/32 0 : 65535 80 : 80", "the protocol is missing"],
    [
      "@10.0.0.0/8 192.168.1.1/32 0 : 65535 80 : 80 0x01/0xFF",
      "1:1: line 0: it matches ports of a protocol without ports",
    ],
    ["@10.0.0.0/8 0.0.0.0/0 0 : 65535 0 : 65535 0x00/0x00\nhello", "2:1: hello: neither a rule"],
  ])("refuses %s", (text, reason) => {
    const { scenario, findings } = importRules(text, { format: "classbench" });
    expect(scenario).toBe(null);
    const refused = findings.filter(({ severity }) => severity === "refused");
    expect(
      refused.map(({ line, column, text: what, reason: why }) => `${line}:${column}: ${what}: ${why}`)[0],
    ).toContain(reason);
  });
});
