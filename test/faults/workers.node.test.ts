/** A worker of a pool dies at every message: the pool says so or does without it, steers frames one by one, and closes. */
import { afterEach, expect, test, vi } from "vitest";
import type { DevicePool, Outcome } from "../../src/index.js";
import { close, framesOf, open, type Loaded } from "../model/support/pool.js";
import { DEEP } from "../support/tier.js";
import { withDyingThread } from "./support/dyingWorker.js";

const FRAMES = framesOf(600);
const BATCHES = 3;
const textOf = ({ verdict, tag, to }: Outcome): string => `${verdict} ${tag} ${to.map(({ name }) => name).join()}`;

const FAILED = /flowsteer: a worker of the pool/;
/** At later messages the thread sleeps between batches. */
const MESSAGES = DEEP ? 24 : 5;

afterEach(() => {
  vi.restoreAllMocks();
});

/** The caller's clock goes faster: a silent thread counts as lost after a second instead of a minute. */
function hurry(): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => 60 * now());
}

/** Opens a pool; null if that fails and says why. */
async function opened(n: number): Promise<Loaded | null> {
  try {
    return await withDyingThread(n, () => open({ workers: 3, few: 2 }));
  } catch (error) {
    expect((error as Error).message).toMatch(FAILED);
    return null;
  }
}

/** Steers batches until one fails. @returns whether none failed */
function steersAll(pool: DevicePool, expected: readonly string[]): boolean {
  for (let batch = 0; batch < BATCHES; batch++) {
    let outcomes: Outcome[];
    try {
      outcomes = pool.receiveBatch(1, FRAMES);
    } catch (error) {
      expect((error as Error).message).toMatch(FAILED);
      return false;
    }
    expect(outcomes.map(textOf)).toEqual(expected);
  }
  return true;
}

test("a thread that dies at every message", async () => {
  const whole = await open({ workers: 3, few: 2 });
  const expected = whole.pool.receiveBatch(1, FRAMES).map(textOf);
  close(whole);
  const ends = { refused: 0, failed: 0, steered: 0 };
  for (let n = 0; n < MESSAGES; n++) {
    const loaded = await opened(n);
    if (loaded === null) {
      ends.refused++;
      continue;
    }
    const { pool } = loaded;
    hurry();
    if (steersAll(pool, expected)) ends.steered++;
    else {
      ends.failed++;
      // What is lost stays lost, and is said at once.
      expect(steersAll(pool, expected)).toBe(false);
    }
    vi.restoreAllMocks();
    // One by one the first core steers, also after a worker has failed.
    expect(FRAMES.slice(0, 8).map((frame) => textOf(pool.receive(1, frame)))).toEqual(expected.slice(0, 8));
    close(loaded);
  }
  // Before it is ready it cannot be done without. Later another thread may have taken its rows over.
  expect(ends.refused).toBe(2);
  console.log(ends);
});
