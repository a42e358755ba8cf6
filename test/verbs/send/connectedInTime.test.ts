/** RC and UC over networks that take time, lose, double and reorder frames: bytes, statuses and times as in the reference. */
import { expect, test } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { reference } from "../../oracle/roce/connection.js";
import { checkReached, rounds } from "../../support/tier.js";
import { draw, engine } from "../support/connectedInTime.js";

const MESSAGES = rounds(2_000, "FLOWSTEER_CONNECTED");

test(`${MESSAGES} messages`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seedFor("connections in time"));
  const statuses = new Map<string, number>();
  for (let made = 0; made < MESSAGES;) {
    const { run, fate, text } = draw(random);
    const expected = reference(run, fate);
    expect(await engine(run, fate), text).toEqual(expected);
    for (const [, what, , status] of expected) {
      const key = what === "sent" ? status : what;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
    }
    made += run.messages.length;
  }
  console.log([...statuses].map(([status, times]) => `${status} ${times}`).join(", "));
  checkReached(() => expect([...statuses.keys()].sort()).toEqual(["flush", "received", "retry", "rnr", "success"]));
});
