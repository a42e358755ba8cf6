// Checks that the generator reaches every header and error; otherwise the comparisons on its frames
// prove little.

import { describe, expect, test } from "vitest";
import { FIELD_WIDTHS } from "../wire/fields.js";
import {
  DECLARED,
  type GeneratedFrame,
  type Kind,
  KINDS,
  Random,
  framesOfEachKind,
  jumbogram,
  randomFrame,
  randomFrameOf,
  randomParser,
  randomRuleFor,
} from "./frame.js";
import { asRule } from "./rule.js";
import { ruleMatches } from "../walk/match.js";
import { type ReferenceResult, STATE_FIELDS, parseReference } from "../wire/parse.js";
import { checkReached, rounds } from "../../support/tier.js";

const SEED = 20261121;
const FRAMES = rounds(12_000);

/** The header that identifies a kind, if its name differs. */
const HEADERS: Partial<Record<Kind, string>> = {
  esp_in_udp: "udp",
  mpls_over_udp: "mpls",
  ip_in_ip: "any",
  other: "any",
};

function frames(seed: number, count: number): GeneratedFrame[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => randomFrame(random));
}

/** Frames of each kind that end at each byte, on the wire or by the capture. */
function cutEverywhere(): ReferenceResult[] {
  return framesOfEachKind(new Random(SEED), rounds(200)).flatMap((frame) =>
    Array.from(frame.bytes.subarray(0, 150), (_, end) => {
      const bytes = frame.bytes.subarray(0, end);
      return [frame, { ...frame, wireLength: end }].map((one) => parseReference(bytes, one));
    }).flat(),
  );
}

describe(`generated frames, seed ${SEED}`, () => {
  const parsed = frames(SEED, FRAMES).map((frame) => parseReference(frame.bytes, { ...frame, parser: DECLARED }));

  test("the same seed gives the same frames", () => {
    expect(frames(SEED, 20)).toEqual(frames(SEED, 20));
    expect(frames(SEED + 1, 20)).not.toEqual(frames(SEED, 20));
  });

  test("every field appears, with more than one value and within its width", () => {
    const values = new Map<string, Set<bigint>>();
    for (const { fields } of parsed) {
      for (const [field, value] of fields) {
        expect(BigInt.asUintN(FIELD_WIDTHS.get(field) ?? 0, value), field).toBe(value);
        (values.get(field) ?? values.set(field, new Set()).get(field))?.add(value);
      }
    }
    const poor = [...FIELD_WIDTHS.keys()].filter((field) => (values.get(field)?.size ?? 0) < 2);
    checkReached(() => expect(poor).toEqual([]));
  });

  test("every header is read whole, and every kind of stop happens", () => {
    const kinds = new Set(parsed.flatMap(({ headers }) => headers.map(({ kind, level }) => `${level} ${kind}`)));
    const extensions = "hop_by_hop routing destination fragment".split(" ").map((name) => `ipv6_${name}`);
    const plain = "arp macsec nsh mpls ipv4 ipv6 ah tcp udp icmp icmpv6 sctp esp bth".split(" ");
    const tunnels = "gre vxlan vxlan_gpe geneve gtpu gtpu_extension".split(" ");
    const both = ["ethernet", "vlan", ...extensions, ...plain].flatMap((kind) => [`outer ${kind}`, `inner ${kind}`]);
    const outer = ["loopback", "linux_cooked", "linux_cooked_v2", ...tunnels].map((kind) => `outer ${kind}`);
    checkReached(() => expect([...both, ...outer].filter((kind) => !kinds.has(kind))).toEqual([]));

    const stops = new Set<string>();
    for (const { stopped } of [...parsed, ...cutEverywhere()])
      if (stopped) stops.add(`${stopped.header} ${stopped.reason}`);
    const inPackets = [...extensions, ...plain, ...tunnels, "ethernet", "vlan"].filter((kind) => kind !== "macsec");
    const cut = [...inPackets, "macsec", "loopback", "linux_cooked", "linux_cooked_v2", "ip"].map(
      (kind) => `${kind} truncated`,
    );
    const beyond = inPackets.map((kind) => `${kind} beyond_packet`);
    const refused = "ip bad_version,ipv4 bad_version,ipv6 bad_version,ipv4 bad_header_length".split(",");
    const all = [...cut, ...beyond, ...refused, "gtpu_extension bad_header_length"];
    checkReached(() => expect(all.filter((stop) => !stops.has(stop))).toEqual([]));
  });

  test("options are cut off from fixed headers that keep their fields, by the capture and by the packet", () => {
    const cut = new Set<string>();
    for (const { stopped, headers } of [...parsed, ...cutEverywhere()]) {
      const last = headers.at(-1);
      if (stopped && last?.kind === stopped.header && last.offset === stopped.offset)
        cut.add(`${last.level} ${stopped.header} ${stopped.reason}`);
    }
    const all = ["outer tcp truncated", "inner tcp truncated"];
    for (const header of ["gre", "gtpu"])
      for (const reason of ["truncated", "beyond_packet"]) all.push(`outer ${header} ${reason}`);
    checkReached(() => expect([...cut].sort()).toEqual(all.sort()));
  });

  test("GRE version 1 carries packets or not, ESP is from 4500 or to it, jumbo lengths are beyond the frame", () => {
    const is = (field: string, value: bigint) => parsed.filter(({ fields }) => fields.get(field) === value);
    const version1 = parsed.filter(({ fields }) => ((fields.get("ext.gre_c_ks_res0_ver") ?? 0n) & 7n) === 1n);
    const carried = version1.filter(({ headers }) => headers.some(({ level }) => level === "inner"));
    for (const level of ["outer", "inner"]) {
      const esp = parsed.filter(({ fields }) => fields.has(`misc.${level}_esp_spi`));
      const from = esp.filter(({ fields }) => fields.get(`${level}.udp_sport`) === 4500n);
      const to = esp.filter(({ fields }) => fields.get(`${level}.udp_dport`) === 4500n);
      checkReached(() => expect(from.filter((one) => !to.includes(one)).length).toBeGreaterThan(5));
      checkReached(() => expect(to.filter((one) => !from.includes(one)).length).toBeGreaterThan(5));
      const hopByHop = is(`${level}.l3_ok`, 0n).filter(({ headers }) =>
        headers.some((one) => one.level === level && one.kind === "ipv6_hop_by_hop"),
      );
      checkReached(() => expect(hopByHop.length).toBeGreaterThan(5));
    }
    checkReached(() => expect(carried.length).toBeGreaterThan(20));
    checkReached(() => expect(version1.length - carried.length).toBeGreaterThan(20));
  });

  test("checksums are right more often than not", () => {
    for (const level of ["outer", "inner"]) {
      const right = (field: string) => parsed.filter(({ fields }) => fields.get(`${level}.${field}`) === 1n).length;
      const ipv4 = parsed.filter(({ fields }) => fields.has(`${level}.ipv4_ihl`)).length;
      checkReached(() => expect(right("ipv4_checksum_ok") / ipv4).toBeGreaterThan(0.5));
      checkReached(() => expect(right("l4_checksum_ok") / right("l4_ok")).toBeGreaterThan(0.5));
    }
  });

  test("jumbograms are whole, with right checksums and wrong ones", () => {
    const random = new Random(SEED);
    const made = Array.from({ length: 20 }, () => jumbogram(random)).map((frame) => parseReference(frame.bytes, frame));
    const oks = made.map(({ fields }) => [fields.get("outer.l4_ok"), fields.get("outer.l4_checksum_ok")].join());
    expect(oks).toContain("1,1");
    expect(oks).toContain("1,0");
  });

  test.each(KINDS)("a frame of %s is one", (kind) => {
    const header = HEADERS[kind] ?? kind;
    const random = new Random(SEED + 4);
    const made = Array.from({ length: 100 }, () => randomFrameOf(random, kind));
    const seen = made.filter((frame) =>
      parseReference(frame.bytes, { ...frame, parser: DECLARED }).headers.some(
        (one) => header === "any" || one.kind === header,
      ),
    );
    expect(seen.length).toBeGreaterThan(30);
  });

  test("declarations of the parser differ, and find something", () => {
    const random = new Random(SEED + 5);
    const made = framesOfEachKind(random, 400);
    let found = 0;
    for (let i = 0; i < 10; i++) {
      const parser = randomParser(random);
      for (const frame of made)
        found += [...parseReference(frame.bytes, { ...frame, parser }).fields.keys()].filter((field) =>
          field.startsWith("misc4."),
        ).length;
    }
    expect(found).toBeGreaterThan(1000);
  });

  test("most frames are sane", () => {
    expect(parsed.filter(({ stopped }) => stopped === null).length).toBeGreaterThan(FRAMES / 2);
  });

  test("a longer capture only adds fields", () => {
    for (const frame of frames(SEED + 2, 500)) {
      const whole = parseReference(frame.bytes, frame).fields;
      const shorter = parseReference(frame.bytes.subarray(0, frame.bytes.length - 1), {
        ...frame,
        wireLength: Math.max(frame.wireLength, frame.bytes.length),
      }).fields;
      for (const [field, value] of shorter) {
        if (!STATE_FIELDS.includes(field)) expect(whole.get(field), field).toBe(value);
      }
    }
  });
});

describe(`generated rules, seed ${SEED}`, () => {
  const random = new Random(SEED);

  test("a rule hits exactly when it says so, and every field is asked, hit and missed", () => {
    const asked = new Set<string>();
    const missed = new Set<string>();
    const ranged = new Set<string>();
    const absent = new Set<string>();
    for (const frame of frames(SEED, FRAMES)) {
      const { fields } = parseReference(frame.bytes, { ...frame, parser: DECLARED });
      for (let i = 0; i < 8; i++) {
        const rule = randomRuleFor(fields, random);
        expect(ruleMatches(fields, asRule(rule, "r", 0n, [])), rule.missBy ?? "hit").toBe(rule.near === "hit");
        for (const term of rule.terms) asked.add(term.field);
        for (const range of rule.ranges) ranged.add(range.field);
        if (rule.missBy !== null) (rule.near === "absent" ? absent : missed).add(rule.missBy);
      }
    }
    const all = [...FIELD_WIDTHS.keys()];
    const rangeable = all.filter(
      (field) => (FIELD_WIDTHS.get(field) ?? 0) >= 2 && (FIELD_WIDTHS.get(field) ?? 0) <= 32,
    );
    checkReached(() => {
      expect(all.filter((field) => !asked.has(field))).toEqual([]);
      expect(all.filter((field) => !missed.has(field))).toEqual([]);
      expect(
        all.filter((field) => !absent.has(field) && !STATE_FIELDS.includes(field) && field !== "ext.port"),
      ).toEqual([]);
      expect(rangeable.filter((field) => !ranged.has(field))).toEqual([]);
    });
  });

  test.each(["hit", "bit", "range", "absent"] as const)("a wish for %s is heard", (near) => {
    for (const frame of frames(SEED + 3, 100)) {
      const { fields } = parseReference(frame.bytes, frame);
      const rule = randomRuleFor(fields, random, { near });
      expect(rule.near).toBe(near);
      expect(ruleMatches(fields, asRule(rule, "r", 0n, []))).toBe(near === "hit");
    }
  });
});
