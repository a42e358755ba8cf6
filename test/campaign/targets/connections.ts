/** Connections: TCP that is tracked, and RC and UC queue pairs over bad networks. */
import { expect } from "vitest";
import { live } from "../../assembly/act/support/connectionLife.js";
import { ConnectionWorld } from "../../assembly/act/support/connections.js";
import { reference } from "../../oracle/roce/connection.js";
import { draw, engine } from "../../verbs/support/connectedInTime.js";
import type { Target } from "../target.js";

/** Connections of a run. */
const LIVES = 4;

export const tracking: Target = {
  name: "tracking",
  about: "segments of TCP in any state of a connection, late and again: syndrome and every bit of the context agree",
  unit: "segments",
  guide: "core",
  open: () =>
    Promise.resolve(async (random) => {
      const world = await ConnectionWorld.make();
      let sent = 0;
      for (let n = 0; n < LIVES; n++) sent += live(random, world, `life ${n}`, () => {});
      return sent;
    }),
};

export const connected: Target = {
  name: "connected",
  about:
    "messages of RC and UC queue pairs over cables that take time, lose, double and reorder frames: bytes, statuses and " +
    "times as in the reference",
  unit: "messages",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const { run, fate, text } = draw(random);
      const expected = reference(run, fate);
      expect(await engine(run, fate), text).toEqual(expected);
      return run.messages.length;
    }),
};
