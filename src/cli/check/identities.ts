/** The identities of findings, besides those of refusals (docs/errors.md). */
import { LINT_IDENTITIES, type Severity } from "../../explain/index.js";

export interface Identity {
  readonly id: string;
  readonly severity: Severity;
}

/** Every identity with its severity. */
export const IDENTITIES: readonly Identity[] = [...LINT_IDENTITIES, { id: "unused-action", severity: "note" }];
