/** Changes of scenarios that people make, and that change nothing for any frame. */
import type { Random } from "../../../oracle/generate/random.js";
import { PRIORITIES, type DocumentRule, type RulesDocument } from "./documents.js";

/** Two documents that treat all frames the same; null where the document has no place for the rewrite. */
type Rewrite = (random: Random, document: RulesDocument) => readonly [RulesDocument, RulesDocument] | null;

/** A copy of a document with a rule in place of which others stand, one priority after the other. */
function withRules(
  document: RulesDocument,
  rule: DocumentRule,
  parts: readonly Partial<DocumentRule>[],
): RulesDocument {
  const made = parts.map((part, n) => ({
    ...structuredClone(rule),
    name: `${rule.name}p${n}`,
    priority: rule.priority + n,
    ...part,
  }));
  return { ...document, rules: document.rules.flatMap((one) => (one === rule ? made : [one])) };
}

/** The rules that a test selects, with a value of their match. */
function pickTerm(
  random: Random,
  { rules }: RulesDocument,
  test: (value: string, field: string) => boolean,
): { readonly rule: DocumentRule; readonly field: string; readonly value: string } | null {
  const all = rules.flatMap((rule) =>
    Object.entries(rule.match).flatMap(([field, value]) =>
      test(String(value), field) ? [{ rule, field, value: String(value) }] : [],
    ),
  );
  return all.length === 0 ? null : random.pick(all);
}

/** The rule of a term replaced by one for each part of its value. */
function inParts(
  document: RulesDocument,
  { rule, field }: NonNullable<ReturnType<typeof pickTerm>>,
  parts: readonly string[],
): RulesDocument {
  return withRules(
    document,
    rule,
    parts.map((part) => ({ match: { ...rule.match, [field]: part } })),
  );
}

const RANGE = /^\d+-\d+$/;
const PREFIX = /\.\d+\/\d+$/;

function splitRange(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const found = pickTerm(random, document, (value) => RANGE.test(value));
  if (found === null) return null;
  const { value } = found;
  const [low, high] = value.split("-").map(Number) as [number, number];
  const middle = random.between(low, high - 1);
  const parts = [`${low}-${middle}`, `${middle + 1}-${high}`];
  return [document, inParts(document, found, parts)];
}

function splitPrefix(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const found = pickTerm(random, document, (value) => PREFIX.test(value));
  if (found === null) return null;
  const { value } = found;
  const [address = "", length] = value.split("/");
  const bytes = address.split(".").map(Number);
  const longer = Number(length) + 1;
  const upper = bytes.map((byte, i) => (i === (longer - 1) >> 3 ? byte | (0x80 >> ((longer - 1) & 7)) : byte));
  const parts = [bytes, upper].map((part) => `${part.join(".")}/${longer}`);
  return [document, inParts(document, found, parts)];
}

/** The table of an action that leads to it. */
function tableOf(action: unknown): string | null {
  return typeof action === "object" && action !== null && "table" in action ? String(action.table) : null;
}

function retargeted(rule: DocumentRule, to: string): DocumentRule {
  return { ...rule, actions: rule.actions.map((action) => (tableOf(action) === null ? action : { table: to })) };
}

/** Whether some rule takes all frames of a table: what no rule of the root table takes is lost for another reason. */
function takesAll({ rules }: RulesDocument, name: string): boolean {
  return rules.some(({ table, match }) => table === name && Object.keys(match).length === 0);
}

/** Frames go through a table that only sends them on. */
function passThrough(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const jumps = document.rules.filter(({ actions }) => actions.some((action) => tableOf(action) !== null));
  const [first] = document.tables;
  if (first !== undefined && takesAll(document, first.name) && (jumps.length === 0 || random.chance(0.3))) {
    const tables = document.tables.map((table) => ({ ...table, level: table.level + 1 }));
    const rule = { name: "on", table: "pass", priority: 1, match: {}, actions: [{ table: first.name }] };
    return [
      document,
      { ...document, tables: [{ name: "pass", level: 0 }, ...tables], rules: [rule, ...document.rules] },
    ];
  }
  if (jumps.length === 0) return null;
  const jump = random.pick(jumps);
  const target = document.tables.find(({ name }) => jump.actions.some((action) => tableOf(action) === name))!;
  const rule = { name: "on", table: "pass", priority: 1, match: {}, actions: [{ table: target.name }] };
  return [
    document,
    {
      ...document,
      tables: [...document.tables, { name: "pass", level: target.level - 1 }],
      rules: [...document.rules.map((one) => (one === jump ? retargeted(one, "pass") : one)), rule],
    },
  ];
}

/** A chain of jumps in place of one. */
function jumpChain(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const jumps = document.rules.filter(({ actions }) => actions.some((action) => tableOf(action) !== null));
  if (jumps.length === 0) return null;
  const jump = random.pick(jumps);
  const target = document.tables.find(({ name }) => jump.actions.some((action) => tableOf(action) === name))!;
  const names = ["chain0", "chain1", "chain2"];
  const on = names.map((table, n) => ({
    name: `on${n}`,
    table,
    priority: 1,
    match: {},
    actions: [{ table: names[n + 1] ?? target.name }],
  }));
  return [
    document,
    {
      ...document,
      tables: [...document.tables, ...names.map((name, n) => ({ name, level: target.level - names.length + n }))],
      rules: [...document.rules.map((one) => (one === jump ? retargeted(one, "chain0") : one)), ...on],
    },
  ];
}

/** A table for each protocol in place of one table. */
function splitTable(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const { name, level } = random.pick(document.tables);
  if (level === 0 && !takesAll(document, name)) return null;
  const rules = document.rules.filter(({ table }) => table === name);
  const others = document.rules.filter(({ table }) => table !== name);
  const parts = [
    { part: "tcp", match: { "outer.ip_protocol": "tcp" } },
    { part: "udp", match: { "outer.ip_protocol": "udp" } },
    { part: "rest", match: {} },
  ] as const;
  const dispatch = parts.map(({ part, match }, n): DocumentRule => ({
    name: `to ${part}`,
    table: name,
    priority: n,
    match: { ...match },
    actions: [{ table: `${name} ${part}` }],
  }));
  const copies = parts.flatMap(({ part }) =>
    rules.map((rule) => ({ ...structuredClone(rule), name: `${rule.name} ${part}`, table: `${name} ${part}` })),
  );
  return [
    document,
    {
      ...document,
      tables: [...document.tables, ...parts.map(({ part }, n) => ({ name: `${name} ${part}`, level: level + 1 + n }))],
      rules: [...others, ...dispatch, ...copies],
    },
  ];
}

/** A part of a rule's frames has a rule of its own before it, which does the same. */
function splitCatchAll(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const all = document.rules.filter(({ match }) => Object.keys(match).length === 0);
  if (all.length === 0) return null;
  const rule = random.pick(all);
  const match: DocumentRule["match"] = random.pick([
    { "outer.ip_version": 4 },
    { "outer.ip_protocol": "udp" },
    { "outer.dmac": "01:00:00:00:00:00/01:00:00:00:00:00" },
  ]);
  return [document, withRules(document, rule, [{ match }, {}])];
}

/** A rule drops what no rule takes; equal where the reason of a loss does not count. */
function explicitDrop(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const { name } = random.pick(document.tables);
  const rule = { name: "the rest", table: name, priority: 10_000, match: {}, actions: ["drop"] };
  return [document, { ...document, rules: [...document.rules, rule] }];
}

const PORTS = ["outer.tcp_dport", "outer.udp_dport", "outer.ip_protocol"];

/** Two rules that no frame hits both of change places. */
function reorder(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const { rules } = document;
  const values = (rule: DocumentRule): readonly [string, string] | null => {
    const found = PORTS.map((field) => [field, String(rule.match[field] ?? "")] as const);
    return found.find(([, value]) => value !== "" && !/[/-]/.test(value)) ?? null;
  };
  const pairs = rules.flatMap((a) =>
    rules.flatMap((b) => {
      const [one, other] = [values(a), values(b)];
      const apart = one !== null && other !== null && one[0] === other[0] && one[1] !== other[1];
      return apart && a.table === b.table && b.priority === a.priority + PRIORITIES ? [[a, b] as const] : [];
    }),
  );
  if (pairs.length === 0) return null;
  const [a, b] = random.pick(pairs);
  const moved = (rule: DocumentRule): DocumentRule =>
    rule === a ? { ...a, priority: b.priority } : rule === b ? { ...b, priority: a.priority } : rule;
  return [document, { ...document, rules: rules.map(moved) }];
}

function duplicate(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const rule = random.pick(document.rules);
  const later = rule.priority + random.pick([1, 1, PRIORITIES + 1, 3 * PRIORITIES + 1]);
  const copy = { ...structuredClone(rule), name: `${rule.name} again`, priority: later };
  return [document, { ...document, rules: [...document.rules, copy] }];
}

function renumber(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const [factor, more] = [random.between(1, 3), random.between(1, 9)];
  return [
    document,
    { ...document, rules: document.rules.map((rule) => ({ ...rule, priority: factor * rule.priority + more })) },
  ];
}

/** A rule for each value of a bit that the rule's mask leaves out. */
function splitMask(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const found = pickTerm(random, document, (value) => /^0x[0-9a-f]+\/0x[0-9a-f]+$/.test(value));
  if (found === null) return null;
  const { field, value } = found;
  const [is, mask] = value.split("/").map(Number) as [number, number];
  const free = Array.from({ length: 16 }, (_, bit) => 1 << bit).filter((bit) => (mask & bit) === 0);
  const inField = free.filter((bit) => bit < (field === "outer.first_vid" ? 4096 : 65536));
  const bit = random.pick(inField);
  const parts = [is, is | bit].map((part) => `0x${part.toString(16)}/0x${(mask | bit).toString(16)}`);
  return [document, inParts(document, found, parts)];
}

/** A list of values that have all bits but some in common, and their mask. */
function mergeValues(random: Random, document: RulesDocument): ReturnType<Rewrite> {
  const found = pickTerm(random, document, (value, field) => /^\d+$/.test(value) && /port$/.test(field));
  if (found === null) return null;
  const { rule, field, value } = found;
  const first = Number(value) & ~3;
  const list = random.shuffle([0, 1, 2, 3]).map((n) => ({ match: { ...rule.match, [field]: first + n } }));
  const mask = [{ match: { ...rule.match, [field]: `0x${first.toString(16)}/0xfffc` } }];
  return [withRules(document, rule, list), withRules(document, rule, mask)];
}

export const REWRITES = {
  "adjacent ranges merged": splitRange,
  "a prefix in halves": splitPrefix,
  "a table that frames only pass": passThrough,
  "a table split by protocol": splitTable,
  "a catch-all in two": splitCatchAll,
  "a drop in place of a miss": explicitDrop,
  "rules reordered that do not overlap": reorder,
  "a rule twice": duplicate,
  "other numbers for priorities": renumber,
  "a mask split in two": splitMask,
  "a chain of jumps": jumpChain,
  "values merged into a mask": mergeValues,
} as const satisfies Readonly<Record<string, Rewrite>>;

/** What must be left out of the comparison for a rewrite to be equal. */
export const IGNORED: Partial<Record<keyof typeof REWRITES, readonly ["reason"]>> = {
  "a drop in place of a miss": ["reason"],
};
