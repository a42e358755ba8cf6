/**
 * Lines of rule sets that Z3 calls live or dead among frames (test/golden/cover.json, made by scripts/golden-cover.mjs):
 * `cover` says the same of each, with the lines in their order and in reverse.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { setScenario } from "../../../bench/cover/scenarios.js";
import type { SetRule } from "../../../bench/classify/ruleSets.js";
import { cover } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";

/** A line, and whether it is live: among tuples and among frames if the first line wins, then if the last one wins. */
type Line = readonly [text: string, tuples: number, frames: number, lastTuples: number, lastFrames: number];

const { sets } = JSON.parse(readFileSync(new URL("../../golden/cover.json", import.meta.url), "utf8")) as {
  readonly sets: readonly { readonly set: string; readonly lines: readonly Line[] }[];
};

function ruleOf(text: string): SetRule {
  const [from, to, sport, dport, protocol] = text.split(" ") as [string, string, string, string, string];
  const [src, srcMask] = network(from);
  const [dst, dstMask] = network(to);
  const [value, protocolMask] = protocol.split("/").map(Number) as [number, number];
  return {
    src,
    srcMask,
    dst,
    dstMask,
    sport: ports(sport),
    dport: ports(dport),
    protocol: value & protocolMask,
    protocolMask,
  };
}

function network(text: string): [address: number, mask: number] {
  const [address, length] = text.split("/") as [string, string];
  const mask = length === "0" ? 0 : (-1 << (32 - Number(length))) >>> 0;
  const whole = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return [(whole & mask) >>> 0, mask];
}

function ports(text: string): [low: number, high: number] {
  return text.split(":").map(Number) as [number, number];
}

/** The texts of lines with what `cover` says of each. The first line wins. */
async function answers(texts: readonly string[]): Promise<string[]> {
  const { device } = await loadScenario(setScenario(texts.map(ruleOf)));
  const statuses = new Map((await cover(device)).rules.map(({ rule, coverage }) => [rule.name, coverage.status]));
  return texts.map((text, i) => `${text} ${statuses.get(`rule ${i}`) ?? "missing"}`);
}

function expected(text: string, isLive: number): string {
  return `${text} ${isLive === 1 ? "witness" : "none"}`;
}

describe.each(sets)("$set", ({ lines }) => {
  test("the first line wins", async () => {
    const found = await answers(lines.map(([text]) => text));
    expect(found).toEqual(lines.map(([text, , isLive]) => expected(text, isLive)));
  });

  test("the last line wins", async () => {
    const reverse = lines.toReversed();
    const found = await answers(reverse.map(([text]) => text));
    expect(found).toEqual(reverse.map(([text, , , , isLive]) => expected(text, isLive)));
  });
});

test("some lines of most sets are dead", () => {
  const dead = sets.map(({ lines }) => lines.filter(([, , , , isLive]) => isLive === 0).length);
  expect(dead).toEqual([1, 19, 4, 0, 51]);
});
