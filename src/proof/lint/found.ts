/** What detectors of the linter find. */
import type { Finding } from "../answer.js";

/** What a detector found. What is left out is null. */
export type Found = Pick<Finding, "objects" | "sentence"> &
  Partial<Pick<Finding, "field" | "witness" | "proof" | "fix">>;
