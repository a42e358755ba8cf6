/**
 * Which words of a text set which field of a rule, and changes of rules as edits of the text. The importers say it: another
 * value in the place of a word makes another match, so no table knows the fields of a language a second time.
 */
import { parseJson } from "../base/json.js";
import type { Change as Edit } from "../formats/reading/format.js";
import type { Scenario } from "../scenario/document.js";
import type { ImportFinding } from "../formats/reading/finding.js";
import { importRules, type ImportOptions, type ImportResult, type ImportSource } from "./importRules.js";
import {
  homesOf,
  linesOf,
  placeOf,
  rulesIn,
  withoutOrder,
  type AnyRule,
  type Home,
  type Match,
  type Place,
} from "./homes.js";
import { phraseBefore } from "../formats/text/phrases.js";
import { isWanted, named, SOURCE_PORT, type FieldWords } from "./ownValues.js";
import { otherValues, valueWords } from "../formats/text/values.js";
import {
  applied,
  combinations,
  elementAfter,
  placeAt,
  removals,
  renamings,
  replacements,
  textEdit,
  textEdits,
  wordEdit,
  type Span,
  type TextEdit,
} from "./edits.js";

/** A field of a rule and its values, in the notation of scenario files; null: the rule does not ask for it. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

const TAG = /vlan_tag$/;
/** Rules that are asked how they write a value. */
const MAX_OTHERS = 8;
/** Sources with more characters are not read again to try an edit, and elements with more values not for their fields. */
const MAX_SOURCES = 2_000_000;
const MAX_VALUES = 64;
/** Sources with more characters are not read whole for the words of a rule that needs the others. */
const MAX_WHOLE = 200_000;
const STEPS = [1, 2, 5];
/** Ways to make a change that are tried. */
const MAX_TRIES = 16;

/**
 * The words of imported rules.
 *
 *     const sources = [{ file: "rules.sh", text }];
 *     const words = new RuleWords(sources, {}, importRules(sources, { namePlaces: true }));
 *     words.fieldsOf("rules.sh:3");
 */
export class RuleWords {
  readonly #sources: readonly ImportSource[];
  readonly #options: ImportOptions;
  readonly #result: Pick<ImportResult, "scenario" | "elementOf">;
  #homes: ReadonlyMap<string, Home> | undefined;
  #rules: ReadonlyMap<string, string> | undefined;
  readonly #spans = new Map<string, readonly Span[]>();

  /**
   * @param sources what was imported
   * @param options how; rules are named by their places
   * @param result what came of it
   */
  constructor(
    sources: readonly ImportSource[],
    options: ImportOptions,
    result: Pick<ImportResult, "scenario" | "elementOf">,
  ) {
    this.#sources = sources;
    this.#options = { ...options, namePlaces: true };
    this.#result = result;
  }

  get #allHomes(): ReadonlyMap<string, Home> {
    const { scenario, elementOf } = this.#result;
    return (this.#homes ??= scenario === null ? new Map() : homesOf(this.#sources, scenario, elementOf));
  }

  get #allRules(): ReadonlyMap<string, string> {
    return (this.#rules ??= rulesOf(this.#result.scenario));
  }

  /** The words of a rule that set its fields, in their order. */
  fieldsOf(rule: string): readonly FieldWords[] {
    const home = this.#allHomes.get(rule);
    if (home === undefined) return [];
    return this.#spansOf(rule, home).map((span) => ({
      field: span.field,
      name: nameOf(span),
      ...placeAt(home.element, span.from),
      text: home.element.text.slice(span.from, span.end),
      value: home.element.text.slice(span.at, span.end),
    }));
  }

  /** The edits that make these changes of a rule; null where none were found. They were tried together. */
  editsFor(rule: string, changes: readonly FieldChange[]): readonly TextEdit[] | null {
    const home = this.#allHomes.get(rule);
    if (home === undefined || changes.length === 0) return null;
    return (
      this.#valueEdits(rule, home, changes) ??
      this.#nameEdits(rule, home, changes) ??
      this.#tagEdits(rule, home, changes)
    );
  }

  /** Words for frames without a tag are taken out: they ask for a bit of each kind of tag. */
  #tagEdits(rule: string, home: Home, changes: readonly FieldChange[]): readonly TextEdit[] | null {
    if (!changes.every(({ field, before, after }) => TAG.test(field) && before === "0" && after === null)) return null;
    const all = Object.keys(home.match)
      .filter((field) => TAG.test(field))
      .map((field) => ({ field, before: "0", after: null }));
    for (const { at, text } of valueWords(home.element.text).slice(0, MAX_VALUES)) {
      const phrase = text === "0" ? phraseBefore(home.element.text, at) : undefined;
      if (phrase === undefined) continue;
      for (const edit of removals(home.element, { ...phrase, at, end: at + text.length }))
        if (this.#make(rule, home, [edit], all)) return textEdits(home.element, [edit]);
    }
    return null;
  }

  /** Other words for protocols and directions: a field takes the place of another one. */
  #nameEdits(rule: string, home: Home, changes: readonly FieldChange[]): readonly TextEdit[] | null {
    let tries = MAX_TRIES;
    for (const edits of renamings(home.element, changes)) {
      if (tries-- === 0) return null;
      if (this.#make(rule, home, edits, changes)) return edits.map((edit) => wordEdit(home.element, edit));
    }
    return null;
  }

  #valueEdits(rule: string, home: Home, changes: readonly FieldChange[]): readonly TextEdit[] | null {
    // What the text says of a field that is added follows from what else it says.
    const given = changes.filter(({ before }) => before !== null);
    if (given.length === 0) return null;
    const spans = this.#spansOf(rule, home);
    const choices = given.map((change) =>
      spans
        .filter(({ field }) => field === change.field)
        .flatMap((span) => [
          ...(change.after === null ? removals(home.element, span) : replacements(home.element, span, change.after)),
          ...this.#spelledElsewhere(change, span).map((text) => ({ from: span.at, to: span.end, text })),
        ]),
    );
    let tries = MAX_TRIES;
    for (const edits of combinations(choices)) {
      if (tries-- === 0) return null;
      if (this.#make(rule, home, edits, changes)) return textEdits(home.element, edits);
    }
    return null;
  }

  /** How other rules write a function: no importer says which port of its text one is. */
  #spelledElsewhere({ field, after }: FieldChange, { name }: Span): readonly string[] {
    if (field !== SOURCE_PORT || after === null) return [];
    const others = [...this.#allHomes.values()].filter(({ match }) => isWanted(named(field, match[field]), after));
    const words = others.slice(0, MAX_OTHERS).flatMap(({ element: { text } }) => {
      return valueWords(text).filter(({ at }) => phraseBefore(text, at)?.name === name);
    });
    return [...new Set(words.map(({ text }) => text))];
  }

  /** The edits that `changes` makes of the element of a rule, if they give a field this value; null otherwise. They were tried. */
  editsBy(
    rule: string,
    changes: (text: string) => readonly Edit[] | null,
    [field, value]: readonly [field: string, value: string],
  ): readonly TextEdit[] | null {
    const home = this.#allHomes.get(rule);
    const edits = home === undefined ? null : changes(home.element.text);
    if (home === undefined || edits === null || !this.areTried) return null;
    const rules = this.#imported(this.#sources, home, edits);
    const isMade = isWanted(matchOf(rules?.get(rule))?.[field], value);
    const others = [...this.#allRules].every(([name, text]) => name === rule || rules?.get(name) === text);
    return isMade && others ? textEdits(home.element, edits) : null;
  }

  /** The element of a rule after edits that lie in it; null for a rule without a place. */
  textAfter(rule: string, edits: readonly TextEdit[]): string | null {
    const home = this.#allHomes.get(rule);
    if (home === undefined) return null;
    return elementAfter(home.element, edits);
  }

  /**
   * The edit that gives a rule the place among the rules of its table that this priority of the device has; null where none
   * was found. Drivers compute the device's numbers from those of the text, and refuse some: the import has nothing to say
   * about the number.
   */
  editForPriority(rule: string, before: number, after: number): TextEdit | null {
    const home = this.#allHomes.get(rule);
    if (home === undefined || !this.areTried) return null;
    for (const { at, text } of valueWords(home.element.text).slice(0, MAX_VALUES)) {
      if (!/^\d{1,9}$/.test(text)) continue;
      const edit = (value: number): Edit => ({ from: at, to: at + text.length, text: String(value) });
      const step = this.#stepOf(rule, home, before, (more) => edit(Number(text) + more));
      if (step === 0) continue;
      const exact = Number(text) + (after - before) / step;
      for (const value of numbersFrom(exact, exact - Number(text))) {
        if (this.#priorityAfter(rule, home, edit(value), after) !== null) return textEdit(home.element, edit(value));
      }
    }
    return null;
  }

  /** How much the device's priority of a rule grows with a number of its text; the next number may be that of another rule. */
  #stepOf(rule: string, home: Home, before: number, edit: (more: number) => Edit): number {
    for (const more of STEPS) {
      const priority = this.#priorityAfter(rule, home, edit(more), null);
      if (priority !== null) return (priority - before) / more;
    }
    return 0;
  }

  /** The device's priority of a rule after an edit that changes nothing else, and gives it the place of `like`. */
  #priorityAfter(rule: string, home: Home, edit: Edit, like: number | null): number | null {
    const { scenario, findings } = this.#resultAfter(this.#sources, home, [edit]);
    if (scenario === null || (like !== null && findings.some((one) => isAbout(one, home, edit)))) return null;
    const rules = rulesIn(scenario).map(([, one]) => one);
    const changed = rules.find(({ name }) => name === rule);
    if (changed === undefined || rules.length !== this.#allRules.size) return null;
    const { priority, table } = placeOf(scenario, changed);
    const isPlaced = rules.every((one) => {
      const known = parseJson(this.#allRules.get(one.name ?? "") ?? "{}") as AnyRule;
      if (withoutOrder(one) !== withoutOrder(known)) return false;
      if (one === changed) return true;
      const other = placeOf(scenario, one);
      // Matchers of other rules may have other names then.
      if (other.priority !== placeOf(this.#result.scenario, known).priority) return false;
      if (like === null || other.table !== table) return true;
      return Math.sign(priority - other.priority) === Math.sign(like - other.priority);
    });
    return isPlaced ? priority : null;
  }

  /** The edit that moves a rule past another one of its table, where no third one is between; null where none was found. */
  editPast(rule: string, other: string, by: 1 | -1): TextEdit | null {
    const { scenario } = this.#result;
    const placed = rulesIn(scenario ?? { flowsteer: 1 }).map(([, one]) => ({
      name: one.name,
      ...placeOf(scenario, one),
    }));
    const [own, passed] = [rule, other].map((name) => placed.find((one) => one.name === name));
    if (own === undefined || passed === undefined) return null;
    const after = passed.priority + by;
    const [low, high] = [Math.min(own.priority, after), Math.max(own.priority, after)];
    const isBetween = ({ priority, table }: Place): boolean =>
      table === own.table && low <= priority && priority <= high;
    const isFree = placed.every((one) => one === own || one === passed || !isBetween(one));
    return isFree ? this.editForPriority(rule, own.priority, after) : null;
  }

  /** Whether edits of the sources are tried. */
  get areTried(): boolean {
    return this.#length <= MAX_SOURCES;
  }

  get #length(): number {
    return this.#sources.reduce((sum, one) => sum + one.text.length, 0);
  }

  #spansOf(rule: string, home: Home): readonly Span[] {
    const known = this.#spans.get(rule);
    if (known !== undefined) return known;
    const { text } = home.element;
    const found: Span[] = [];
    const alone = this.#withoutOthers(rule, home) ?? (this.#length <= MAX_WHOLE ? this.#sources : null);
    if (alone === null) return found;
    for (const { at, text: value } of valueWords(text).slice(0, MAX_VALUES)) {
      const end = at + value.length;
      const phrase = phraseBefore(text, at);
      if (phrase === undefined) continue;
      const span = { ...phrase, at, end };
      const others = [...otherValues(value)].map((other) => ({ from: at, to: end, text: other }));
      const fields = this.#fieldsAfter(alone, home, rule, others) ?? this.#fieldsOfFixed(alone, home, rule, span);
      if (fields.length === 1) found.push({ ...span, field: fields[0]! });
    }
    this.#spans.set(rule, found);
    return found;
  }

  /** The fields that the first edit changes which changes some; null where all are refused, as values are that no driver takes. */
  #fieldsAfter(
    sources: readonly ImportSource[],
    home: Home,
    rule: string,
    edits: readonly Edit[],
  ): readonly string[] | null {
    let isRead = false;
    for (const edit of edits) {
      const match = matchOf(this.#imported(sources, home, [edit])?.get(rule));
      if (match === undefined) continue;
      const fields = changedFields(home.match, match);
      if (fields.length > 0) return fields;
      isRead = true;
    }
    return isRead ? [] : null;
  }

  /** The fields of a value in whose place no other stands, such as the port of a tunnel; the item of the tunnel may set it, too. */
  #fieldsOfFixed(
    sources: readonly ImportSource[],
    home: Home,
    rule: string,
    span: Omit<Span, "field">,
  ): readonly string[] {
    const without = this.#fieldsAfter(sources, home, rule, [...removals(home.element, span)]) ?? [];
    if (without.length === 1) return without;
    const value = home.element.text.slice(span.at, span.end);
    const fields = Object.entries(home.match).filter(([, one]) => isWanted(one, value));
    return fields.map(([field]) => field);
  }

  /** Whether edits change the fields of the rule as wanted, and nothing else. */
  #make(rule: string, home: Home, edits: readonly Edit[], changes: readonly FieldChange[]): boolean {
    if (!this.areTried) return false;
    const rules = this.#imported(this.#sources, home, edits);
    const match = rules === null ? undefined : matchOf(rules.get(rule));
    if (rules === null || match === undefined || rules.size !== this.#allRules.size) return false;
    for (const [name, text] of this.#allRules) if (name !== rule && rules.get(name) !== text) return false;
    const wanted = new Map(changes.map(({ field, after }) => [field, after]));
    const changed = changedFields(home.match, match);
    return (
      changed.length === wanted.size &&
      changed.every((field) =>
        [match[field], named(field, match[field])].some((one) => isWanted(one, wanted.get(field))),
      )
    );
  }

  /** The sources without the lines of other rules, which are read faster; null where the rule is another one then. Places stay. */
  #withoutOthers(rule: string, home: Home): readonly ImportSource[] | null {
    const others = new Map<string, Set<number>>();
    for (const { element, source } of this.#allHomes.values()) {
      const lines = others.get(source.file) ?? new Set();
      for (const line of linesOf(element))
        if (source !== home.source || !linesOf(home.element).includes(line)) lines.add(line - 1);
      others.set(source.file, lines);
    }
    const sources = this.#sources.map(({ file, text }) => {
      const gone = others.get(file);
      // Columns stay, since an edit is at a place of the whole text.
      const blanked = text.split("\n").map((line, n) => (gone?.has(n) === true ? " ".repeat(line.length) : line));
      return { file, text: blanked.join("\n") };
    });
    const rules = this.#imported(sources, home, []);
    const match = matchOf(rules?.get(rule));
    return match === undefined || changedFields(match, home.match).length > 0 ? null : sources;
  }

  /** The rules by their names, as texts, after edits of an element; null if that is not imported. */
  #imported(sources: readonly ImportSource[], home: Home, edits: readonly Edit[]): ReadonlyMap<string, string> | null {
    const { scenario } = this.#resultAfter(sources, home, edits);
    return scenario === null ? null : rulesOf(scenario);
  }

  #resultAfter(sources: readonly ImportSource[], { source, start }: Home, edits: readonly Edit[]): ImportResult {
    const moved = edits.map(({ from, to, text }) => ({ from: start + from, to: start + to, text }));
    const edited = sources.map(({ file, text }) => ({
      file,
      text: file === source.file ? applied(text, moved) : text,
    }));
    return importRules(edited, this.#options);
  }
}

/** The whole numbers next to a number, then those away from it. */
function* numbersFrom(exact: number, away: number): Generator<number> {
  const near = away < 0 ? [Math.floor(exact), Math.ceil(exact)] : [Math.ceil(exact), Math.floor(exact)];
  yield* new Set(near.filter((value) => value >= 0));
  for (let n = 1; n < MAX_TRIES; n++) {
    const value = (near[0] as number) + n * Math.sign(away);
    if (value >= 0) yield value;
  }
}

/** Whether a finding is about the text that an edit writes. */
function isAbout({ file, line, column, text }: ImportFinding, home: Home, edit: Edit): boolean {
  const place = placeAt(home.element, edit.from);
  return file === place.file && line === place.line && column === place.column && text === edit.text;
}

/** A word for a whole traffic class has other numbers than the DSCP or the ECN in it: "ipv6 tc" is "ipv6 dscp". */
function nameOf({ field, name }: Span): string {
  const part = /_(dscp|ecn)$/.exec(field)?.[1];
  if (part === undefined || !/(?:tos|tc|tclass)$/.test(name)) return name;
  return name.includes(" ") ? name.slice(0, name.lastIndexOf(" ") + 1) + part : part.toUpperCase();
}

function rulesOf(scenario: Scenario | null): ReadonlyMap<string, string> {
  if (scenario === null) return new Map();
  return new Map(rulesIn(scenario).map(([, rule]) => [rule.name ?? "", JSON.stringify(rule)]));
}

function matchOf(rule: string | undefined): Match | undefined {
  return rule === undefined ? undefined : ((parseJson(rule) as AnyRule).match ?? {});
}

function changedFields(before: Match, after: Match): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
