/** The language of the filter: what it says, what it refuses, and that every filter can be written in it. */
import { describe, expect, it } from "vitest";
import type { FrameFilter, Totals } from "../../../playground/src/engine/api.js";
import { VERDICTS } from "../../../playground/src/engine/verdicts.js";
import { filterText, parseFilter } from "../../../playground/src/frames/filter/language.js";
import { suggestionsOf } from "../../../playground/src/frames/filter/suggest.js";
import type { Completion } from "../../../playground/src/parts/completionInput.js";
import { Random } from "../../oracle/generate/random.js";

describe("parseFilter", () => {
  it.each<[string, FrameFilter]>([
    ["", {}],
    ["  10.0.0.7   blue ", { text: "10.0.0.7 blue" }],
    ["10.0.0.7 vxlan", { text: "10.0.0.7", fields: "vxlan" }],
    [
      'verdict:miss,drop rule:"net 5001" to:qp:blue reason:no_rule changed web',
      { verdicts: ["miss", "drop"], rule: "net 5001", to: "qp:blue", reason: "no_rule", changed: true, text: "web" },
    ],
    ["ip.dst == 10.0.0.0/8 && udp.port == 4789", { fields: "ip.dst == 10.0.0.0/8 && udp.port == 4789" }],
    ["vxlan.vni in {1..9}", { fields: "vxlan.vni in {1..9}" }],
    ["web.example 2001:db8::7", { text: "web.example 2001:db8::7" }],
    ["tcp vxlan", { fields: "tcp && vxlan" }],
    ["tcp || udp.port==53 and !ipv6", { fields: "tcp || udp.port==53 and !ipv6" }],
    ["verdict:miss (tcp || udp) web", { verdicts: ["miss"], fields: "(tcp || udp)", text: "web" }],
    ['"from host 3" && tcp.port == 80 to:qp:web', { text: "from host 3", fields: "tcp.port == 80", to: "qp:web" }],
    ['fs.rule == "net 5001" and fs.verdict == "miss"', { fields: 'fs.rule == "net 5001" && fs.verdict == "miss"' }],
    ["VERDICT:Miss", { verdicts: ["miss"] }],
    ["fe80::1 dead:beef::2 2001:db8::", { text: "fe80::1 dead:beef::2 2001:db8::" }],
    ['"changed" "rule:x"', { text: "changed rule:x" }],
    ['rule:"a \\"b\\" \\\\"', { rule: 'a "b" \\' }],
  ])("%s", (text, filter) => {
    expect(parseFilter(text)).toEqual({ error: null, filter });
  });

  it.each([
    ["tcp verdict:mist", 4, 16, /"mist" is not a verdict: use deliver/],
    ["tcp:443", 0, 7, /unknown condition "tcp"/],
    ["rule:a rule:b", 7, 13, /given twice/],
    ["to: x", 0, 3, /needs a value/],
    ['rule:"net', 0, 9, /quote is not closed/],
    ["tcp.prot == 80", 0, 8, /no field "tcp.prot"; did you mean "tcp.port"\?/],
    ["udp.dst == 4789", 0, 7, /did you mean "udp.dstport"\?/],
    ["ip.dst == 10.0.0.256", 10, 20, /not an IPv4 address/],
    ["tcp.port == 70000", 12, 17, /too large: tcp.port is at most 65535/],
    ["tcp.port == http", 12, 16, /"http" is not a number/],
    ["port == 80", 0, 4, /no field "port"/],
    ["ip.dst ==", 9, 9, /a value is missing/],
    ["tcp && ", 7, 7, /a condition is missing/],
    ["(tcp || udp", 0, 11, /"\)" is missing/],
    ["ip.dst 10.0.0.1", 7, 15, /"10.0.0.1" is no operator/],
    ["tcp.port == 80 udp.port == 53", 15, 23, /join conditions with && or \|\|/],
    ["!verdict:miss", 1, 13, /here use fs.verdict == "miss"/],
    ["tcp || verdict:miss,drop", 7, 24, /here use fs.verdict in \{"miss", "drop"\}/],
    ['fs.verdict == "mist"', 14, 20, /did you mean "miss"\?/],
    ["frame contains abc", 15, 18, /"abc" is not bytes/],
    ["vxlan.vni in 1..9", 10, 12, /needs values in braces/],
  ])("refuses %s", (text, from, to, message) => {
    const { error } = parseFilter(text);
    expect(error).toEqual({ from, to, text: expect.stringMatching(message) });
  });

  it("reads what filterText writes", () => {
    const random = new Random(21);
    const letters = ["a", "B", "7", ":", '"', "\\", ",", ".", "-", "changed", "rule:", "to"];
    const word = (): string => Array.from({ length: random.below(4) + 1 }, () => random.pick(letters)).join("");
    const some = (): string => Array.from({ length: random.below(3) + 1 }, word).join(" ");
    for (let i = 0; i < 5000; i++) {
      const verdicts = VERDICTS.filter(() => random.chance(0.4));
      const filter: FrameFilter = {
        ...(verdicts.length > 0 && random.chance(0.5) && { verdicts }),
        ...(random.chance(0.5) && { rule: some() }),
        ...(random.chance(0.5) && { to: some() }),
        ...(random.chance(0.3) && { change: JSON.stringify([some(), null]) }),
        ...(random.chance(0.3) && { changed: true }),
        ...(random.chance(0.5) && { text: some() }),
        ...(random.chance(0.3) && { fields: random.pick(["tcp", "tcp.port == 80 && !vxlan", "(tcp || udp)"]) }),
      };
      const text = filterText(filter);
      expect(parseFilter(text), text).toEqual({ error: null, filter });
    }
  });
});

describe("suggestionsOf", () => {
  it("suggests fields, and values of ours", () => {
    expect(suggestionsOf("tcp && vxlan.v", 14, null, false)).toEqual([
      expect.objectContaining({ text: "vxlan.vni ", from: 7, to: 14, more: false }),
    ]);
    const totals = { rules: [{ name: "net 5001", path: "rules[0]", frames: 2, bytes: 9 }] } as unknown as Totals;
    for (const text of ["fs.rule == ", 'fs.rule == "', 'fs.rule in {"a", "net 5', 'fs.rule != "net']) {
      const [{ text: written, from, to }] = suggestionsOf(text, text.length, totals, false) as [Completion];
      expect(text.slice(0, from) + written + text.slice(to)).toMatch(/^fs.rule (==|!=|in \{"a",) "net 5001" $/);
    }
  });

  it("suggests conditions, and writes one in place of what was begun", () => {
    expect(suggestionsOf("tcp ver x", 7, null, false)).toEqual([
      expect.objectContaining({ text: "verdict:", from: 4, to: 7, more: true }),
    ]);
    expect(suggestionsOf("cha", 3, null, false)).toEqual([]);
    expect(suggestionsOf("cha", 3, null, true).map(({ text }) => text)).toEqual(["changed "]);
  });
});
