/** Which rules of a table the picture shows. */
import type { PipelineRule, PipelineTable } from "../../engine/api.js";

export type Row =
  | { readonly kind: "rule"; readonly key: string; readonly rule: PipelineRule }
  /** Rules that are not shown. */
  | { readonly kind: "more"; readonly key: string; readonly count: number }
  /** What happens to frames that no rule takes. */
  | { readonly kind: "miss"; readonly key: string };

/** The key of the row for frames without a rule. */
export const MISS = "miss";
export const MORE = "more";

/** A table with at most so many rules shows all of them. */
export const SHOWN = 8;
/** So many rules more are shown at each step. */
export const SHOWN_STEP = 50;

/** The key of a rule's row. Paths are unique, but the rules of a table may share one. */
export function ruleKey({ path, name }: Pick<PipelineRule, "path" | "name">): string {
  return `${path} ${name}`;
}

/**
 * Rows in the order in which the table tries its rules.
 * @param limit the first so many rules are shown
 * @param kept keys of rules that are shown wherever they are
 */
export function rowsOf(table: PipelineTable, limit: number, kept: ReadonlySet<string>): Row[] {
  const { rules } = table;
  const rows: Row[] = [];
  // One hidden rule takes as much place as the row that says so.
  const all = rules.length <= limit + 1;
  rules.forEach((rule, i) => {
    const key = ruleKey(rule);
    if (all || i < limit || kept.has(key)) rows.push({ kind: "rule", key, rule });
  });
  const hidden = rules.length - rows.length;
  if (hidden > 0) rows.push({ kind: "more", key: MORE, count: hidden });
  rows.push({ kind: "miss", key: MISS });
  return rows;
}
