/** Tells of long work: after a while, and not too often, since each report is a message. */
import type { Progress } from "../api.js";

/** Milliseconds before the first report, and between two. */
const PATIENCE = 150;
const BETWEEN = 100;

export function seldom(progress: Progress): Progress {
  let next = performance.now() + PATIENCE;
  return (done, total, what) => {
    const now = performance.now();
    if (now < next) return;
    next = now + BETWEEN;
    progress(done, total, what);
  };
}
