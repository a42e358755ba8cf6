/** Finds the name that a misspelt word may mean. */

/** The name nearest to `word`; undefined if none is near enough. */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = (word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1;
  for (const name of names) {
    // Each letter more or less is one step.
    if (Math.abs(word.length - name.length) >= least) continue;
    const away = distance(word.toLowerCase(), name.toLowerCase());
    if (away < least) [best, least] = [name, away];
  }
  return best;
}

/** `did you mean "web"? queues: web, dns`: the hint for an unknown name. */
export function namesHint(word: string, what: string, names: readonly string[]): string {
  if (names.length === 0) return `there are no ${what}`;
  const near = nearest(word, names);
  const shown = names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")}, ... (${names.length})` : names.join(", ");
  return `${near === undefined ? "" : `did you mean "${near}"? `}${what}: ${shown}`;
}

/** The name that a hint asks about; undefined for none. */
export function suggestedName(hint: string): string | undefined {
  return /\bdid you mean "([^"]+)"\?/.exec(hint)?.[1];
}

const SHOWN = 12;

/** Levenshtein: insertions, deletions and replacements from one word to the other; swapping two neighbours counts as one. */
function distance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, older[j - 2]! + 1);
      row.push(least);
    }
    [older, previous] = [previous, row];
  }
  return previous[b.length]!;
}
