/** Does a job, whatever its kind. A file that is no capture is an answer; what may go well on another machine is an error. */
import { refusalLines, CommandRefusal } from "../../refusal.js";
import { NO_PAINT } from "../../text.js";
import { indexOf } from "../cut/cutting.js";
import type { CaptureIndex, Job, ReadCaptures, Steered } from "../jobs.js";
import type { Steering } from "./steering.js";

export async function work(job: Job, steering: Steering): Promise<CaptureIndex | Steered | ReadCaptures> {
  try {
    return job.kind === "index" ? await indexOf(job) : await steering.steer(job);
  } catch (error) {
    if (!(error instanceof CommandRefusal)) throw error;
    const { file, refusal } = error;
    if (isAboutContents(refusal.reason)) return { breaks: [], refused: { file, refusal } };
    throw new Error(refusalLines(NO_PAINT, error).trimEnd(), { cause: error });
  }
}

/** Every machine would refuse it. */
function isAboutContents(reason: string): boolean {
  return reason === "not_a_capture" || reason === "bad_capture";
}
