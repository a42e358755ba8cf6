/** What has been reached so far. */
export interface Coverage {
  /** How much was reached since the last call that never was before. */
  fresh(): number;
  /** How much was reached so far, and how much there is; null where that is not known. */
  readonly reached: number;
  readonly all: number | null;
}

/** Without guidance. */
export const NO_COVERAGE: Coverage = { fresh: () => 0, reached: 0, all: null };
