/** mlx5dv_dump(3): what direct rules there are, as text for the public steering dump tools. */
import { ERRNO } from "../../errors.js";
import { Domain, Table } from "../../model/table/domain.js";
import { dumpDomain, dumpMatcher, dumpRule, dumpTable } from "../../model/dump/dump.js";
import type { Write } from "../../model/dump/record.js";
import { Matcher } from "../../model/table/matcher.js";
import { Rule } from "../../model/rule/rule.js";

/** What a `FILE *` is here: something with `write`, such as a stream of Node, or a function that takes the text. */
export type DumpFile =
  | {
      /** Takes the next piece of the text. */
      write(text: string): unknown;
    }
  | ((text: string) => unknown);

type Living = { readonly destroyed: boolean };

/** These calls alone give their error as a negative number. */
function dumped<T extends Living>(
  file: DumpFile | null | undefined,
  object: T | null | undefined,
  type: { [Symbol.hasInstance](value: unknown): boolean },
  dump: (write: Write, object: T) => void,
): number {
  const write = writerOf(file);
  if (write === undefined || !type[Symbol.hasInstance](object) || (object as T).destroyed) return -ERRNO.EINVAL;
  dump(write, object as T);
  return 0;
}

function writerOf(file: DumpFile | null | undefined): Write | undefined {
  if (typeof file === "function") return file;
  return typeof file?.write === "function" ? (text) => file.write(text) : undefined;
}

/**
 * Writes a domain with its tables, matchers, rules and actions as text for the public steering dump
 * tools (mlx5dv_dump(3)).
 * @param fout gets the text
 * @returns 0; or -EINVAL, which is not thrown, without a file or a living object
 */
export function mlx5dv_dump_dr_domain(fout: DumpFile | null, domain: Domain | null): number {
  return dumped(fout, domain, Domain, dumpDomain);
}

/**
 * Writes a table with its matchers, rules and actions, after its domain, as text for the public
 * steering dump tools (mlx5dv_dump(3)).
 * @param fout gets the text
 * @returns 0; or -EINVAL, which is not thrown, without a file or a living object
 */
export function mlx5dv_dump_dr_table(fout: DumpFile | null, table: Table | null): number {
  return dumped(fout, table, Table, dumpTable);
}

/**
 * Writes a matcher with its rules and actions, after its domain and table, as text for the public
 * steering dump tools (mlx5dv_dump(3)).
 * @param fout gets the text
 * @returns 0; or -EINVAL, which is not thrown, without a file or a living object
 */
export function mlx5dv_dump_dr_matcher(fout: DumpFile | null, matcher: Matcher | null): number {
  return dumped(fout, matcher, Matcher, dumpMatcher);
}

/**
 * Writes a rule with its actions, after its domain, table and matcher, as text for the public
 * steering dump tools (mlx5dv_dump(3)).
 * @param fout gets the text
 * @returns 0; or -EINVAL, which is not thrown, without a file or a living object
 */
export function mlx5dv_dump_dr_rule(fout: DumpFile | null, rule: Rule | null): number {
  return dumped(fout, rule, Rule, dumpRule);
}
