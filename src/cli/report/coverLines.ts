/**
 * The lines of JSON that `cover` prints. schema/cover-1.schema.json is made from these types (scripts/output-schemas.mjs).
 */
import type {
  Cover,
  Coverage,
  Proof,
  RuleCoverage,
  RuleRef,
  TableCoverage,
  TableRef,
  Witness,
} from "../../explain/index.js";
import type { NamedElements } from "./elements.js";

export type CoverLine = CoverRuleLine | CoverTableLine | CoverSumLine;

/** A table of the device; its rules follow it. */
export interface CoverTableLine extends NamedElements {
  readonly kind: "table";
  readonly table: TableRef;
  readonly answer: CoverAnswer;
}

/** A rule, flow, host rule, entry or connection, in the order in which its table is searched. */
export interface CoverRuleLine extends NamedElements {
  readonly kind: "rule";
  readonly rule: PlacedRule;
  readonly table: TableRef;
  readonly answer: CoverAnswer;
}

/** The last line. */
export interface CoverSumLine {
  readonly kind: "sum";
  readonly rules: CoverCounts;
  readonly tables: CoverCounts;
  /** Why not all rules were looked at; null if all were. */
  readonly partial: string | null;
}

export interface CoverCounts {
  readonly live: number;
  readonly dead: number;
  readonly unknown: number;
}

/** A rule, and where the scenario has it. */
export interface PlacedRule extends RuleRef {
  /** JSON pointers (RFC 6901), such as "/rules/3": several for identical flows, none for a connection. */
  readonly places: readonly string[];
}

/** Whether a frame hits a rule, or comes to a table. */
export type CoverAnswer =
  | { readonly status: "live"; readonly witness: Witness }
  | { readonly status: "dead"; readonly proof: PlacedProof }
  /** `tried`: how far the search went. */
  | { readonly status: "unknown"; readonly tried: string };

/** Why no frame does. */
export type PlacedProof = Proof<PlacedRule>;

/** Names of identical flows are joined by this. */
const SAME = " = ";

/**
 * The lines of a cover: each table, its rules, and at last the sums.
 * @param pointers of rules by name
 */
export function* coverLines(
  { rules, tables }: Cover,
  pointers: ReadonlyMap<string, string>,
  partial: string | null,
): Generator<CoverLine, void> {
  const placed = (rule: RuleRef): PlacedRule => ({ ...rule, places: placesOf(rule.name, pointers) });
  const byTable = rulesByTable(rules);
  const all = withTablesOf(byTable, tables);
  for (const { table, coverage } of all) {
    yield { kind: "table", table, answer: answerOf(coverage, placed) };
    for (const one of byTable.get(tableKey(table)) ?? []) {
      yield { kind: "rule", rule: placed(one.rule), table, answer: answerOf(one.coverage, placed) };
    }
  }
  yield { kind: "sum", rules: countsOf(rules), tables: countsOf(all), partial };
}

function rulesByTable(rules: Cover["rules"]): Map<string, RuleCoverage[]> {
  const byTable = new Map<string, RuleCoverage[]>();
  for (const one of rules) {
    const key = tableKey(one.table);
    const others = byTable.get(key);
    if (others === undefined) byTable.set(key, [one]);
    else others.push(one);
  }
  return byTable;
}

/**
 * Each table by its name once, also those that a search which ended early did not come to: a frame that hits a rule comes to
 * its table.
 */
function withTablesOf(byTable: ReadonlyMap<string, readonly RuleCoverage[]>, tables: Cover["tables"]): TableCoverage[] {
  const known = new Map<string, TableCoverage>();
  for (const one of tables) {
    const key = tableKey(one.table);
    if (!known.has(key) || one.coverage.status === "witness") known.set(key, one);
  }
  for (const [key, rules] of byTable) {
    const [first] = rules;
    if (first === undefined || known.has(key)) continue;
    const live = rules.find(({ coverage }) => coverage.status === "witness");
    const coverage = live?.coverage ?? { status: "unknown", tried: "nothing: the search ended before" };
    known.set(key, { table: first.table, coverage });
  }
  return [...known.values()];
}

/** The text of a table by which tables are compared. */
function tableKey({ domain, vport, table }: TableRef): string {
  return JSON.stringify([domain, vport, table]);
}

function countsOf(all: readonly { readonly coverage: Coverage }[]): CoverCounts {
  const counts = { live: 0, dead: 0, unknown: 0 };
  for (const { coverage } of all) counts[STATUS[coverage.status]]++;
  return counts;
}

const STATUS = { witness: "live", none: "dead", unknown: "unknown" } as const;

function answerOf(coverage: Coverage, placed: (rule: RuleRef) => PlacedRule): CoverAnswer {
  if (coverage.status === "witness") return { status: "live", witness: coverage.witness };
  if (coverage.status === "none") return { status: "dead", proof: proofOf(coverage.proof, placed) };
  return coverage;
}

function proofOf(proof: Proof, placed: (rule: RuleRef) => PlacedRule): PlacedProof {
  if (proof.kind === "covered") return { ...proof, by: proof.by.map(placed) };
  if (proof.kind !== "cannot match") return proof;
  const held = proof.held.map((one) => ({ ...one, by: one.by.map(placed) }));
  return { ...proof, leading: proof.leading.map(placed), held };
}

/** The places of a name, or of the names that it joins. */
function placesOf(name: string, pointers: ReadonlyMap<string, string>): string[] {
  const whole = pointers.get(name);
  if (whole !== undefined) return [whole];
  for (let at = name.indexOf(SAME); at >= 0; at = name.indexOf(SAME, at + 1)) {
    const first = pointers.get(name.slice(0, at));
    if (first !== undefined) return [first, ...placesOf(name.slice(at + SAME.length), pointers)];
  }
  return [];
}
