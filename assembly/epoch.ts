/**
 * The epoch of the rules: every change of tables, rules, actions, order or links starts a new one.
 * Entries of the flow cache are valid in one epoch only.
 */
export namespace Epoch {
  export let number: u64 = 1;
}

/** Starts a new epoch: earlier results of lookups are not valid any more. */
// @ts-ignore: decorator
@inline
export function invalidate(): void {
  Epoch.number++;
}
