/** The life of a connection: what comes, and what engine and reference say of it. */
import type { Random } from "../../../oracle/generate/random.js";
import type { ConnectionWorld, TestSegment } from "./connections.js";
import { randomContext, randomFrame, randomWait } from "./drawConnection.js";

/** Calls of a life. */
const CALLS = 40;
/** Frames that are drawn for one context, and sent in one batch. */
const MAX = 3;

/** Bits of the context that some life sets, and some life clears again. */
export const FLAGS = ["connection_assured", "sack_permitted", "challenged_acked", "limit_exceeded"] as const;

/**
 * @param name for messages
 * @param see is told what came up
 * @returns the number of frames
 */
export function live(random: Random, world: ConnectionWorld, name: string, see: (what: string) => void): number {
  world.open(randomContext(random));
  let time = BigInt(random.below(1000));
  let last: TestSegment[] = [];
  let sent = 0;
  for (let n = 0; n < CALLS; n++) {
    const count = random.between(1, MAX);
    const frames: TestSegment[] = [];
    for (let i = 0; i < count; i++) {
      time += randomWait(random);
      if (time < 0n) time = 0n;
      const again = last.length > 0 && random.chance(0.15);
      frames.push(again ? { ...random.pick(last), time } : randomFrame(random, world.tracked.context, time));
    }
    last = frames;
    sent += count;
    const before = { ...world.tracked.context };
    for (const { syndrome, from, kind, to } of world.send(frames, name)) {
      see(`syndrome ${syndrome}`);
      if (kind !== undefined) see(`${from}: ${kind} ${to ?? "-"}`);
    }
    for (const flag of FLAGS) if (world.tracked.context[flag] !== before[flag]) see(`${flag} ${before[flag]}`);
    see(`counter ${world.tracked.context.retransmission_counter}`);
  }
  return sent;
}
