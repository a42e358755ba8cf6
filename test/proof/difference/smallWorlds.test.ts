/** Differences of two small worlds: brute force tries every frame of both. */
import { expect, test } from "vitest";
import { SteeringError } from "../../../src/index.js";
import { difference } from "../../../src/explain/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";
import { bytesOf, openWorlds, type SmallDevice } from "../cover/support/smallDevice.js";
import { allFrames, drawWorld, FIELDS, type SmallFrame, type SmallWorld } from "../cover/support/smallWorld.js";

/** A world with one change: of a match, an effect, a place, or a rule more or less. */
function mutated(random: Random, world: SmallWorld): SmallWorld {
  const changed = structuredClone(world);
  const { rules } = changed;
  const at = random.between(0, rules.length - 1);
  const rule = rules[at]!;
  switch (random.between(0, 5)) {
    case 0:
      rule.then = random.pick(rule.table === 0 ? ["next", "drop", "queue"] : ["drop", "queue"]);
      break;
    case 1:
      rules.splice(at, 1);
      break;
    case 2:
      rules.push({ ...structuredClone(rule), name: "added", then: random.pick(["drop", "queue"]) });
      break;
    case 3:
      rule.matcher = random.between(0, changed.priorities[rule.table].length - 1);
      break;
    case 4:
      rules.splice(random.between(0, rules.length - 1), 0, ...rules.splice(at, 1));
      break;
    default:
      rule.changes = random.chance(0.5) ? [] : structuredClone(random.pick(rules).changes);
  }
  return changed;
}

const REGISTER_A = FIELDS.findIndex(({ name }) => name === "A");

/** All that a receiver can tell, as text. */
function behaviourOf({ device, queue }: SmallDevice, sent: boolean, bytes: Uint8Array, metadata: number): string {
  const { verdict, reason, to, tag } = sent ? device.send(queue, bytes, { metadata }) : device.receive(1, bytes);
  return JSON.stringify([verdict, reason, tag, to.map(({ name, frame }) => [name, [...frame]])]);
}

/** Null for a world that the model refuses, such as one with too many ranges in a rule. */
async function opened(world: SmallWorld): Promise<SmallDevice | null> {
  try {
    return await openWorlds([world]);
  } catch (error) {
    if (error instanceof SteeringError) return null;
    throw error;
  }
}

test("a difference is true, and equal worlds treat every frame alike", async () => {
  const random = new Random(seedFor("small differences"));
  const counts = { equal: 0, different: 0, unknown: 0, proved: 0 };
  for (let round = 0; round < rounds(150); round++) {
    const world = drawWorld(random, random.chance(0.3));
    if (world.rules.length === 0) continue;
    const changed = mutated(random, world);
    const [a, b] = [await opened(world), await opened(changed)];
    if (a === null || b === null) continue;
    const isDifferent = (bytes: Uint8Array, metadata: number): boolean =>
      behaviourOf(a, world.sent, bytes, metadata) !== behaviourOf(b, world.sent, bytes, metadata);
    const { equal, groups, changes } = await difference(a.device, b.device);
    const context = (): string => JSON.stringify({ world, changed, changes });
    for (const { witness } of groups) {
      const bytes = Uint8Array.from(witness.bytes.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
      expect(isDifferent(bytes, witness.metadata ?? 0), context()).toBe(true);
    }
    if (equal && changes.length > 0) counts.proved++;
    counts[groups.length > 0 ? "different" : equal ? "equal" : "unknown"]++;
    if (groups.length > 0) {
      expect(equal).toBe(false);
      continue;
    }
    const frame = allFrames(world).find((one: SmallFrame) => isDifferent(bytesOf(one, 0), one.values[REGISTER_A]!));
    if (frame !== undefined && equal) expect(frame, context()).toBeUndefined();
  }
  const all = counts.equal + counts.different + counts.unknown;
  checkReached(() => {
    expect(counts.unknown, JSON.stringify(counts)).toBeLessThan(all / 10);
    expect(Math.min(counts.different, counts.proved), JSON.stringify(counts)).toBeGreaterThan(all / 20);
  });
});
