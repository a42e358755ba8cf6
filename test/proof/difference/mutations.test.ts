/** One action or term of a scenario is changed: no difference is missed that frames show which have what actions need. */
import { expect, test } from "vitest";
import { buildFrame } from "../../../src/packet/builder/build.js";
import type { Layer } from "../../../src/packet/builder/layers.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { DEEP, rounds } from "../../support/tier.js";
import { type DocumentRule, drawDocument, drawMatch, drawSteps, loaded } from "./support/documents.js";
import { judge } from "./support/judge.js";

const MUTATIONS = rounds(DEEP ? 300 : 900, "FLOWSTEER_MUTATIONS");
const FRAMES = 150;

const CHANGES: readonly ((random: Random, rule: DocumentRule) => void)[] = [
  (random, rule) => {
    rule.actions = [...drawSteps(random, 0.2), ...rule.actions.slice(-1)];
  },
  (random, rule) => {
    const left = random.below(rule.actions.length);
    if (rule.actions.length > 1)
      rule.actions = rule.actions.filter((_, n) => n !== left || n === rule.actions.length - 1);
  },
  (random, rule) => {
    rule.actions = [...rule.actions.slice(0, -1), random.pick(["drop", { queue: "a" }, { queue: "b" }])];
  },
  (random, rule) => {
    rule.match = { ...rule.match, ...drawMatch(random) };
  },
  (random, rule) => {
    const left = random.pick(Object.keys(rule.match));
    rule.match = Object.fromEntries(Object.entries(rule.match).filter(([field]) => field !== left));
  },
];

/** Headers from IP on, with values that rules match. */
function drawPacket(random: Random, depth: number): Layer[] {
  const ip = random.chance(0.8)
    ? ({
        header: "ipv4",
        source: random.pick(["10.1.2.3", "10.1.9.9", "192.168.0.1", "192.168.200.1", "1.2.3.4"]),
        destination: random.pick(["10.1.2.3", "10.1.2.9", "10.7.7.7", "192.168.0.1", "192.168.200.1", "1.2.3.4"]),
        dscp: random.pick([0, 3, 10, 40]),
        ttl: random.pick([1, 2, 64]),
      } as const)
    : ({ header: "ipv6", dscp: random.pick([0, 3, 10, 40]) } as const);
  if (depth === 0 && random.chance(0.4)) {
    const vni = random.pick([7, 0x100, 0x1ff, 9]);
    return [ip, { header: "udp", destination_port: 4789 }, { header: "vxlan", vni }, ...drawFrame(random, 1)];
  }
  const destination_port = random.pick([80, 85, 443, 53, 0x135, 1000, 5000]);
  if (random.chance(0.1)) return [ip, { header: ip.header === "ipv4" ? "icmp" : "icmpv6" }];
  return [ip, { header: random.pick(["tcp", "udp"]), destination_port }];
}

function drawFrame(random: Random, depth = 0): Layer[] {
  const destination = random.pick(["02:00:00:00:00:01", "02:00:00:00:00:77", "01:00:5e:00:00:01"]);
  const tags = Array.from({ length: random.pick([0, 0, 1, 2]) }, () => random.pick([1, 2, 16, 100]));
  return [
    { header: "ethernet", destination },
    ...tags.map((vid) => ({ header: "vlan" as const, vid })),
    ...drawPacket(random, depth),
  ];
}

test(`${MUTATIONS} mutations`, { timeout: 7_200_000 }, async () => {
  const random = new Random(seedFor("mutations of scenarios"));
  const counts = { mutations: 0, shown: 0, found: 0, equal: 0, undecided: 0 };
  while (counts.mutations < MUTATIONS) {
    const seed = random.word();
    const own = new Random(seed);
    const old = drawDocument(own, 6, { decapsulates: 0.1, splits: 0.1 });
    const changed = structuredClone(old);
    own.pick(CHANGES)(own, own.pick(changed.rules.filter(({ match }) => Object.keys(match).length > 0)));
    const [a, b] = [await loaded(old), await loaded(changed)];
    if (a === null || b === null) continue;
    counts.mutations++;
    const frames = Array.from({ length: FRAMES }, () => ({ frame: buildFrame(drawFrame(own)), metadata: 0 }));
    const { changes, different, wrong } = await judge(a.device, b.device, frames);
    const isFound = changes.some(({ effect }) => effect === "different");
    const isEqual = changes.every(({ effect }) => effect === "same");
    if (different > 0) counts.shown++;
    if (isFound) counts.found++;
    else if (isEqual) counts.equal++;
    else counts.undecided++;
    expect(wrong.slice(0, 1), `seed ${seed}`).toEqual([]);
    expect(different === 0 || isFound, `seed ${seed}: ${JSON.stringify(changes)}`).toBe(true);
  }
  console.log(JSON.stringify(counts));
});
