/** Shared links: what goes in comes out, and strange input gives a message. */
import { deflateSync } from "fflate";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CAPTURE_LIMIT,
  decodeLink,
  encodeLink,
  LINK_LIMIT,
  LinkError,
  RULES_LIMIT,
  type Shared,
} from "../../../playground/src/state/link.js";
import { rounds } from "../../support/tier.js";

const PLAIN: Shared = {
  rules: '{ "flowsteer": 1 }',
  source: null,
  name: "why-vxlan",
  frame: 2,
  step: 3,
  path: "rules[0]",
  field: "misc.vxlan_vni",
  filter: { verdicts: ["miss"], text: "10.0.0.7" },
  capture: null,
  left: null,
};

const name = fc.stringMatching(/^[\w.-]{1,40}$/);
const text = fc.string({ unit: "grapheme", maxLength: 60 });
const documents: fc.Arbitrary<Shared> = fc.record({
  rules: fc.string({ unit: "grapheme", maxLength: 3000 }),
  source: fc.option(
    fc.record({
      text: fc.string({ unit: "grapheme", maxLength: 3000 }),
      options: fc.record({
        file: name,
        format: fc.option(fc.constantFrom("testpmd", "tc")),
        map: fc.dictionary(name, text),
        driver: fc.option(fc.constantFrom("mlx5-pmd", "none")),
        profile: fc.option(name),
        into: fc.option(fc.constant({ flowsteer: 1 as const, frames: [{ hex: "00" }] })),
      }),
    }),
  ),
  name,
  frame: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  step: fc.nat(),
  path: fc.option(text),
  field: fc.option(text),
  filter: fc.record(
    {
      verdicts: fc.subarray(["deliver", "forward", "transmit", "drop", "miss"] as const),
      rule: text,
      to: text,
      reason: fc.constantFrom("no_rule", "table_miss"),
      text,
    },
    { requiredKeys: [] },
  ),
  capture: fc.option(fc.record({ name, bytes: fc.uint8Array({ maxLength: CAPTURE_LIMIT, size: "max" }) })),
  left: fc.option(fc.record({ name, size: fc.nat() })),
});

/** A link around a payload, as an attacker writes it: with the right checksum. */
function linkOf(payload: Uint8Array, version = 1): string {
  const body = deflateSync(payload, { level: 9 });
  let sum = 0x811c9dc5;
  for (const byte of body) sum = Math.imul(sum ^ byte, 0x01000193);
  const head = Buffer.alloc(5);
  head[0] = version;
  head.writeUInt32BE(sum >>> 0, 1);
  return `#share=${Buffer.concat([head, body]).toString("base64url")}`;
}

function payloadOf(json: string, capture = new Uint8Array()): Uint8Array {
  const bytes = Buffer.from(json);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes, capture]);
}

/** The message of the refusal. */
async function refusal(fragment: string): Promise<string> {
  const error: unknown = await decodeLink(fragment).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LinkError);
  return (error as LinkError).message;
}

const changed = (changes: object): string => linkOf(payloadOf(JSON.stringify({ ...PLAIN, capture: null, ...changes })));

describe("a link", () => {
  it("gives back what it was made of", async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (shared) => {
        expect(await decodeLink(await encodeLink(shared))).toEqual(shared);
      }),
      { numRuns: rounds(300) },
    );
  });

  it("has characters that need no escape, and is short", async () => {
    const link = await encodeLink({ ...PLAIN, rules: PLAIN.rules.repeat(1000) });
    expect(link).toMatch(/^#share=[\w-]+$/);
    expect(link.length).toBeLessThan(600);
  });

  it("cuts long names, so that it can be opened again", async () => {
    const opened = await decodeLink(await encodeLink({ ...PLAIN, name: "n".repeat(1000), path: "p".repeat(5000) }));
    expect(opened).toMatchObject({ name: "n".repeat(200), path: "p".repeat(1000) });
  });

  it("is told from other fragments", async () => {
    for (const fragment of ["", "#", "#rules", "#share", "#sharex=1"]) expect(await decodeLink(fragment)).toBeNull();
  });
});

describe("a strange link gives a message and nothing else", () => {
  it("cut at any place, or with one character changed", async () => {
    const link = await encodeLink(PLAIN);
    for (let length = "#share=".length; length < link.length; length++) {
      expect(await refusal(link.slice(0, length))).toMatch(/truncated/);
    }
    for (let at = "#share=".length + 2; at < link.length - 1; at++) {
      const other = link[at] === "A" ? "B" : "A";
      expect(await refusal(link.slice(0, at) + other + link.slice(at + 1))).toMatch(/truncated/);
    }
  });

  it("of another version", async () => {
    expect(await refusal(linkOf(payloadOf("{}"), 2))).toBe(
      "The link is of format 2, and this page reads format 1: reload the page.",
    );
  });

  it("not base64url", async () => {
    for (const text of ["<script>", "a b", "%41", "\u202e", "AAAA="]) {
      expect(await refusal(`#share=${text}`)).toMatch(/characters that links of this page never/);
    }
  });

  it("random bytes with the right checksum", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect(await refusal(linkOf(bytes))).toMatch(/damaged/);
      }),
      { numRuns: rounds(500) },
    );
  });

  it("that is no DEFLATE data, or whose data do not end", async () => {
    const whole = Buffer.from(linkOf(payloadOf("{}")).slice(7), "base64url");
    for (const body of [Buffer.alloc(40, 0xff), whole.subarray(5, -2), Buffer.of(0)]) {
      let sum = 0x811c9dc5;
      for (const byte of body) sum = Math.imul(sum ^ byte, 0x01000193);
      const head = Buffer.alloc(5, 1);
      head.writeUInt32BE(sum >>> 0, 1);
      expect(await refusal(`#share=${Buffer.concat([head, body]).toString("base64url")}`)).toMatch(/damaged/);
    }
  });

  it("that unpacks to far more: it stops at the limit", async () => {
    // 64 MB of zeros are 64 kB.
    const bomb = linkOf(new Uint8Array(64 << 20));
    expect(bomb.length).toBeLessThan(LINK_LIMIT);
    const began = performance.now();
    expect(await refusal(bomb)).toBe("The link unpacks to more than 8 MB.");
    console.log(`a bomb of ${bomb.length} characters was refused in ${Math.round(performance.now() - began)} ms`);
  });

  it("longer than any link", async () => {
    expect(await refusal(`#share=${"A".repeat(LINK_LIMIT)}`)).toMatch(/too long/);
  });

  it("with a length beyond its end", async () => {
    expect(await refusal(linkOf(Buffer.of(255, 255, 255, 255, 123, 125)))).toMatch(/ends too early/);
    expect(await refusal(linkOf(Buffer.of(0, 0)))).toMatch(/damaged/);
  });

  it("with rules that are too long", async () => {
    expect(await refusal(changed({ rules: "x".repeat(RULES_LIMIT + 1) }))).toMatch(/"rules" is too long/);
  });

  it("with a capture that is too long", async () => {
    const json = JSON.stringify({ ...PLAIN, capture: "big.pcap" });
    expect(await refusal(linkOf(payloadOf(json, new Uint8Array(CAPTURE_LIMIT + 1))))).toMatch(/capture is too long/);
  });

  it.each([
    ["no object", "[1]"],
    ["null", "null"],
    ["a text", '"rules"'],
    ["no JSON", "{"],
    ["nested a million times", "[".repeat(1_000_000)],
    ["one stray character", "\ud800"],
  ])("whose document is %s", async (_, json) => {
    expect(await refusal(linkOf(payloadOf(json)))).toMatch(/damaged/);
  });

  it.each([
    { rules: 5 },
    { rules: null },
    { rules: ["a"] },
    { name: {} },
    { name: "n".repeat(201) },
    { frame: "2" },
    { frame: 0 },
    { frame: 1.5 },
    { frame: 1e300 },
    { frame: 2 ** 53 },
    { step: -1 },
    { path: 7 },
    { path: "p".repeat(2000) },
    { filter: null },
    { filter: [] },
    { filter: { verdicts: "miss" } },
    { filter: { verdicts: ["explode"] } },
    { filter: { text: 3 } },
    { filter: { reason: {} } },
    { capture: 5 },
    { left: "big.pcap" },
    { left: { name: 5, size: 1 } },
    { left: { name: "a", size: -1 } },
  ])("with a value of a wrong type: %o", async (changes) => {
    expect(await refusal(changed(changes))).toMatch(/^The link is damaged: .*\.$/);
  });

  it("keys of prototypes are not read", async () => {
    const json =
      '{"__proto__":{"rules":"evil","name":"evil","filter":{}},"constructor":{"prototype":{"evil":1}},"toString":1}';
    expect(await refusal(linkOf(payloadOf(json)))).toMatch(/"rules" is not a text/);
    const filter = `{"rules":"{}","name":"a","filter":{"__proto__":{"rule":"evil","verdicts":["evil"]}}}`;
    expect(await decodeLink(linkOf(payloadOf(filter)))).toMatchObject({ filter: {} });
    expect(({} as { evil?: number }).evil).toBeUndefined();
    expect(({} as { rules?: string }).rules).toBeUndefined();
  });

  it("keys that nobody knows are left out", async () => {
    expect(Object.keys((await decodeLink(changed({ surprise: "x" }))) ?? {}).sort()).toEqual(Object.keys(PLAIN).sort());
  });

  it("names lose characters that control a screen or turn text around", async () => {
    const name = "a\u202e\u0007\u2028b<script>\n\u200f";
    expect(await decodeLink(changed({ name }))).toMatchObject({ name: "ab<script>" });
    expect(await decodeLink(changed({ name: "\u202e" }))).toMatchObject({ name: "untitled" });
  });
});
