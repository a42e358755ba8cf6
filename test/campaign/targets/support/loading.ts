/** Documents on a device, and frames through what was loaded. */
import { expect } from "vitest";
import { SteeringError } from "../../../../src/index.js";
import type { LoadedScenario } from "../../../../src/scenario/index.js";
import { randomFrame } from "../../../oracle/generate/frame.js";
import type { Random } from "../../../oracle/generate/random.js";

/** The limits of a device that hostile documents are loaded on. */
export const LIMITS = { memory: 64_000_000 };

const FRAMES = 4;

/** The result of a call, or its refusal. Anything else that it throws is a defect. */
export async function orRefusal<T>(call: () => T | Promise<T>): Promise<T | SteeringError> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SteeringError) return error;
    throw error;
  }
}

/** Runs the frames of the document, and random ones by a port; then the device closes. */
export async function runLoaded(loaded: LoadedScenario, random: Random): Promise<void> {
  const own = await orRefusal(() => loaded.run());
  if (!(own instanceof SteeringError)) {
    expect(own.length).toBe(loaded.frames.length);
    loaded.failures();
    expect(loaded.disagreements).toEqual([]);
  }
  const frames = Array.from({ length: FRAMES }, () => randomFrame(random)).filter(({ linkType }) => linkType === 1);
  const outcomes = loaded.device.receiveBatch(
    1,
    frames.map(({ bytes }) => bytes),
  );
  expect(outcomes.map(({ verdict }) => verdict)).not.toContain(undefined);
  loaded.device.users = 0;
  loaded.device.close();
}
