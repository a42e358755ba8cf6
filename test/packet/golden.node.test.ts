/**
 * Compares built frames with the output of tshark: test/golden/build.json, made by
 * scripts/golden-build.mjs.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { buildFrame } from "../../src/packet/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { EVERY_HEADER, WRONG } from "./support/everyHeader.js";

interface Judged {
  name: string;
  bytes: string;
  protocols: string;
  /** Protocols whose checksum is correct for tshark. */
  good: string[];
  complaints: string[];
}

const judged = JSON.parse(readFileSync(new URL("../golden/build.json", import.meta.url), "utf8")) as Judged[];
const named = new Map(judged.map((one) => [one.name, one]));

test("frames are those that tshark saw", () => {
  const built = [...EVERY_HEADER, ...WRONG].map(({ name, layers }) => ({ name, bytes: hexOf(buildFrame(layers)) }));
  expect(built).toEqual(judged.map(({ name, bytes }) => ({ name, bytes })));
});

test("tshark has nothing to say against frames of defaults, and verified their checksums", () => {
  const complaints = EVERY_HEADER.flatMap(({ name }) =>
    (named.get(name)?.complaints ?? [""]).map((one) => [name, one]),
  );
  expect(complaints).toEqual([]);
  const found = new Set(EVERY_HEADER.flatMap(({ name }) => named.get(name)?.good ?? []));
  expect([...found].sort()).toEqual(["gre", "icmp", "icmpv6", "ip", "sctp", "tcp", "udp"]);
});

test("tshark sees what is wrong on request", () => {
  for (const { name } of WRONG) expect(named.get(name)?.complaints.length, name).toBeGreaterThan(0);
});
