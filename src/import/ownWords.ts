/** Explanations in the words of the text that the rules came from: its names of fields, and repairs as edits of it. */
import type { Explanation, Finding, Repair } from "../explain/index.js";
import { frameWords, MATCH_FIELDS } from "../headers/fields.js";
import type { Scenario } from "../scenario/document.js";
import type { ScenarioRule } from "../scenario/rule/definition.js";
import type { Format } from "../formats/reading/format.js";
import type { StateFlags } from "../formats/text/connection.js";
import type { SourceElement } from "../formats/reading/finding.js";
import { FORMATS } from "./formats.js";
import type { ImportOptions, ImportResult, ImportSource } from "./importRules.js";
import { functionName, isConnection, ownDifference, ownValue, SOURCE_PORT } from "./ownValues.js";
import { orderText, ownMistake, ownRepair, portRepair, VLAN_TAG, type OwnRepair } from "./ownRepairs.js";
import { differenceText, inValues, isDifference, ruleOf, withSentences } from "./ownSentences.js";
import { linesOf } from "./homes.js";
import { RuleWords } from "./ruleWords.js";
import { vxlanPortEdits } from "./vxlanPort.js";

/** An explanation; repairs of rules that were imported are edits of their texts, too. */
export interface OwnExplanation extends Omit<Explanation, "repairs"> {
  readonly repairs: readonly OwnRepair[];
}

/** Kinds of rules in findings, and findings that say that a rule takes no frame. */
const RULES: ReadonlySet<string> = new Set(["rule", "flow", "host rule"]);
const NEVER_HIT: ReadonlySet<string> = new Set(["dead-rule", "unreached-rule", "contradiction"]);

interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

function keyOf({ file, line, column }: SourceElement): string {
  return `${file}:${line}:${column}`;
}

/** The number of a function after the field: "misc.source_port is 1", "misc.source_port 1". */
const FUNCTION_NUMBER = /\b(misc\.source_port(?: is| =)?) (\d+)\b/g;

/** Priorities are those of the device: texts have others, and in some the higher number wins. */
const PRIORITIES = /, by its lower priority number \(\d+ before \d+\)/g;
/** ethtool has no priorities: rules of as many fields are in the order in which they are made. */
const HOST_ORDER = /^(Host rule .*)Give one of them a different priority\.$/;
const PRECEDENCE = ": it takes precedence";
const REVERSED =
  /^(.*?) has priority \d+ and takes every frame of (.*), which has priority \d+: the lower number wins\. Give the more specific rule the lower number\.$/;

/** What sentences say of the register that holds the state of a connection. */
const CONNECTION_VALUE = /\b(ct_state|ct_zone) ((?:0x)?[\da-f]+(?:\/0x[\da-f]+)?)(?![\w/])/g;

/**
 * Rules that were imported and named by their places.
 *
 *     const sources = [{ file: "rules.sh", text }];
 *     const result = importRules(sources, { namePlaces: true });
 *     if (result.scenario !== null) new ImportedRules(sources, {}, result.scenario, result).inOwnWords(explanation);
 */
export class ImportedRules {
  readonly scenario: Scenario;
  /** The element that an object of the scenario comes from, as in `ImportResult`. */
  readonly elementOf: ImportResult["elementOf"];
  /** The elements of rules by their names. */
  readonly elements: ReadonlyMap<string, SourceElement>;
  readonly words: RuleWords;
  /** As in `ImportResult`. */
  readonly isOrdered: boolean;
  readonly findings: ImportResult["findings"];

  /** What a field is called that no text names. */
  readonly #otherwise: (field: string) => string;
  readonly #formats: readonly Format[];
  readonly #sources: readonly ImportSource[];
  /** What the driver asks for of its own accord. */
  readonly #driver: ImportResult["driver"];
  /** The tables of matchers by their names. */
  #matcherTables: ReadonlyMap<string, string> | undefined;
  readonly #options: ImportOptions;

  /** The arguments of the import, and what came of it. */
  constructor(
    sources: readonly ImportSource[],
    options: ImportOptions,
    scenario: Scenario,
    result: Pick<ImportResult, "elementOf" | "isOrdered" | "formats" | "findings" | "driver">,
  ) {
    const { elementOf, isOrdered, formats, findings, driver } = result;
    this.#driver = driver.filter(({ field }) => field !== undefined);
    [this.#sources, this.#options] = [sources, options];
    this.findings = findings;
    this.#formats = formats.map((name) => FORMATS[name]);
    this.#otherwise = wordsOf(this.#formats);
    this.scenario = scenario;
    this.elementOf = elementOf;
    this.isOrdered = isOrdered;
    this.elements = elementsByName(scenario, elementOf);
    this.words = new RuleWords(sources, options, { scenario, elementOf });
  }

  /** The elements of the rules that a record names, of these rules and others, in the order of the record. */
  elementsNamed(record: unknown, ...others: readonly ImportedRules[]): ReadonlyMap<string, SourceElement> {
    const found = new Map<string, SourceElement>();
    const find = (value: unknown): void => {
      if (typeof value === "string") {
        for (const name of namesIn(value)) {
          for (const { elements } of [this, ...others]) {
            const element = elements.get(name);
            if (element !== undefined) found.set(name, element);
          }
        }
      } else if (typeof value === "object" && value !== null) Object.values(value).forEach(find);
    };
    find(record);
    return found;
  }

  /**
   * What match fields are called in the texts of the rules that a record names: as the rule itself names them, otherwise as
   * the first rule that does, and without one as a frame has them.
   */
  namesOfFields(record: unknown): (field: string, rule?: string) => string {
    const rules = [...this.elementsNamed(record).keys()];
    const byRule = new Map(
      rules.map((rule) => [rule, new Map(this.words.fieldsOf(rule).map(({ field, name }) => [field, name]))]),
    );
    return (field, rule) => {
      const own = rule === undefined ? undefined : byRule.get(rule)?.get(field);
      return own ?? [...byRule.values()].find((names) => names.has(field))?.get(field) ?? this.#otherwise(field);
    };
  }

  /** The names of the fields that a record has, by the rules that it has them of. */
  fieldNames(record: unknown): ReadonlyMap<string, Readonly<Record<string, string>>> {
    const nameOf = this.namesOfFields(record);
    const names = new Map<string, Record<string, string>>();
    const find = (value: unknown, of: string | undefined): void => {
      if (typeof value !== "object" || value === null) return;
      const about = ruleOf(value) ?? of;
      if (about !== undefined && "field" in value && typeof value.field === "string") {
        const known = names.get(about) ?? {};
        known[value.field] = nameOf(value.field, about);
        names.set(about, known);
      }
      for (const one of Object.values(value)) find(one, about);
    };
    find(record, undefined);
    return names;
  }

  /**
   * The findings about what the texts say. An element may be several rules, one for each way that leads to it: it is never
   * hit if none of them is. Rules that no element says are the import's own: they stand for what a device or its driver does
   * with all other frames, so they have no faults, and a rule that says the same is not redundant.
   */
  aboutElements<T extends Pick<Finding, "id"> & { readonly objects: readonly NamedObject[] }>(
    found: readonly T[],
  ): readonly T[] {
    const rules = new Map<string, number>();
    for (const element of this.elements.values()) rules.set(keyOf(element), (rules.get(keyOf(element)) ?? 0) + 1);
    const never = new Map<string, number>();
    const isOwn = (object: NamedObject): boolean => RULES.has(object.kind) && !this.elements.has(object.name);
    const tables = this.#tablesOfTexts();
    const elementOf = ({ objects: [first], id }: T): SourceElement | null | undefined =>
      first === undefined || !RULES.has(first.kind) || !NEVER_HIT.has(id) ? null : this.elements.get(first.name);
    for (const finding of found) {
      const element = elementOf(finding);
      if (element) never.set(keyOf(element), (never.get(keyOf(element)) ?? 0) + 1);
    }
    return found.filter((finding) => {
      const { objects, id } = finding;
      // The text lists its rules in their order.
      if (this.isOrdered && id === "order-dependent") return false;
      // A table of the import's own rules.
      if (id === "unreached-table" && objects[0]?.kind === "table" && !tables.has(objects[0].name)) return false;
      if (objects.slice(0, id === "redundant-rule" ? undefined : 1).some(isOwn)) return false;
      const element = elementOf(finding);
      if (element === null) return true;
      return element !== undefined && never.get(keyOf(element)) === rules.get(keyOf(element));
    });
  }

  /** The element of the first rule that is in a table. */
  elementIn(table: string): SourceElement | undefined {
    const rule = this.scenario.rules?.find((one) => this.#tableOf(one) === table && this.elements.has(one.name ?? ""));
    return this.elements.get(rule?.name ?? "");
  }

  /** An element that would lead frames to a table; null where the language has none. */
  #leading(table: string): string | null {
    const text = this.elementIn(table)?.text ?? "";
    return this.#formats.find(({ recognizes }) => recognizes(text))?.leading?.(text) ?? null;
  }

  /** The first rule that leads to a table like this one which has no rules, as a sentence after others; empty for none. */
  #astray(table: string): string {
    const like = (name: string): string => name.replace(/(?<!\d)\d+$/, "");
    const own = this.#tablesOfTexts();
    for (const { name = "", actions = [] } of this.scenario.rules ?? []) {
      const to = actions.flatMap((one) => (typeof one === "object" && "table" in one ? [one.table] : []));
      const empty = to.find((one) => typeof one === "string" && like(one) === like(table) && !own.has(one));
      if (empty !== undefined && this.elements.has(name))
        return ` Rule "${name}" leads to table "${String(empty)}", which has no rules.`;
    }
    return "";
  }

  /** The tables that have a rule of the texts. */
  #tablesOfTexts(): ReadonlySet<string | undefined> {
    const { rules = [] } = this.scenario;
    const ofTexts = rules.filter(({ name }) => name !== undefined && this.elements.has(name));
    return new Set(ofTexts.map((rule) => this.#tableOf(rule)));
  }

  #tableOf({ table, matcher }: Pick<ScenarioRule, "table" | "matcher">): string | undefined {
    return table ?? (this.#matcherTables ??= tablesOf(this.scenario)).get(matcher ?? "");
  }

  /** A record whose sentences have the names that the texts have for fields, and whose differences have their values. */
  inOwnNames<T extends object>(record: T): T {
    const said = new Map<string, string>();
    const own = this.#withDifferences(record, said, undefined);
    // The words of a rule are found by importing it again and again: only where a sentence names a field.
    let names: ReturnType<typeof this.namesOfFields> | undefined;
    const nameOf = (field: string, about?: string): string => (names ??= this.namesOfFields(record))(field, about);
    const inOwn = (sentence: string, about: string | undefined): string =>
      inValues(sentence, said)
        .replace(FUNCTION_NUMBER, (_, field: string, vport: string) => `${field} ${functionName(vport)}`)
        .replace(MATCH_FIELDS, (field) => nameOf(field, about))
        .replace(
          CONNECTION_VALUE,
          (_, name: string, value: string) => `${name} ${this.valueIn(name, value, about ?? "")}`,
        )
        .replace(PRIORITIES, PRECEDENCE)
        .replace(HOST_ORDER, "$1Put the one that is to win first.")
        .replace(
          REVERSED,
          "$1 takes precedence over $2, and takes all its frames. Give the more specific rule precedence.",
        );
    return withSentences(own, inOwn, undefined) as T;
  }

  /** A value with its differences as the texts have them; `said` gets what sentences say of those that are others then. */
  #withDifferences(value: unknown, said: Map<string, string>, of: string | undefined): unknown {
    if (Array.isArray(value)) return value.map((one: unknown) => this.#withDifferences(one, said, of));
    if (typeof value !== "object" || value === null) return value;
    const about = ruleOf(value) ?? of;
    if (about !== undefined && isDifference(value)) {
      const note = value.note ?? this.#askedBy(about, value.field);
      const own = ownDifference({ ...value, note }, this.words.fieldsOf(about), this.#flagsOf(about));
      if (differenceText(own) !== differenceText(value)) said.set(differenceText(value), differenceText(own));
      return own;
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, one]: [string, unknown]) => [key, this.#withDifferences(one, said, about)]),
    );
  }

  /** Why a rule asks for a field that only its driver asks for; null for others. */
  #askedBy(rule: string, field: string): string | null {
    const element = this.elements.get(rule);
    if (element === undefined) return null;
    const lines = linesOf(element);
    const asks = this.#driver.find(
      (one) => one.field === field && one.file === element.file && lines.includes(one.line),
    );
    return asks === undefined ? null : `the driver ${asks.does}`;
  }

  /** The flags of `ct_state` in the text of a rule. */
  #flagsOf(rule: string): StateFlags | undefined {
    const text = this.elements.get(rule)?.text ?? "";
    const formats = this.#formats.filter(({ states }) => states !== undefined);
    return (formats.find(({ recognizes }) => recognizes(text)) ?? formats[0])?.states;
  }

  /** A value, or a value and its mask, of a field that texts call `name`, as that of the rule writes it. */
  valueIn(name: string, value: string, rule: string): string {
    return ownValue(name, value, this.#flagsOf(rule));
  }

  /** What makes the rule of an element ask for a field that none of its words names. */
  readonly #asking: NonNullable<Format["asking"]> = (text, field, value) =>
    this.#formats
      .find(({ recognizes, asking }) => asking !== undefined && recognizes(text))
      ?.asking?.(text, field, value) ?? null;

  /** Texts that name tagged frames otherwise have no words for frames with and without a tag. */
  #leavesOutTag({ of, rule, fields }: Repair): boolean {
    const text = rule === null ? undefined : this.elements.get(rule)?.text;
    if (of !== "rule" || text === undefined) return false;
    return fields.every(
      ({ field, after }) => after === null && VLAN_TAG.test(field) && this.#asking(text, field, "1") !== null,
    );
  }

  /** Whether a repair only gives other values to what the text says, and the language has none of them. No one edits a dump. */
  #isRefused({ of, rule, fields, edits }: OwnRepair): boolean {
    if (this.#formats.some(({ hasDeviceFields }) => hasDeviceFields === true)) return false;
    if (of !== "rule" || rule === null || edits !== undefined || !this.words.areTried) return false;
    return fields.every(({ before, after, field }) => before !== null && after !== null && field !== "priority");
  }

  #isOfConnection({ rule, fields }: Repair): boolean {
    if (rule === null) return false;
    const words = this.words.fieldsOf(rule).filter(isConnection);
    return fields.some(({ field }) => words.some((one) => one.field === field));
  }

  /** An explanation that says why the driver put an earlier rule first. */
  #withOrder(explanation: Explanation): Explanation {
    const earlier = explanation.reasons.find((one) => one.kind === "earlier rule");
    const [first, second] = [earlier?.by, earlier?.rule].map((rule) => this.#orderOf(rule?.name));
    if (earlier === undefined || first === undefined || second === undefined || first === second) return explanation;
    const text = `: the driver puts it first (${orderText(first, second)})`;
    const said = (sentence: string): string => sentence.replace(PRECEDENCE, () => text);
    const reasons = explanation.reasons.map((one) =>
      one === earlier ? { ...one, sentence: said(one.sentence) } : one,
    );
    return { ...explanation, sentence: said(explanation.sentence), reasons };
  }

  /** Why the driver gives a rule of a text its priority; undefined where the text has the order. */
  #orderOf(rule: string | undefined): string | undefined {
    const { rules = [], hostRules = [], matchers = [] } = this.scenario;
    if (rule === undefined || !this.elements.has(rule)) return undefined;
    const own = rules.find(({ name }) => name === rule);
    const matcher = matchers.find(({ name }) => name === own?.matcher && name !== undefined);
    return (matcher ?? own ?? hostRules.find(({ name }) => name === rule))?.description;
  }

  /** An explanation with the names that the texts have for fields, and with repairs as edits of the texts. */
  inOwnWords(explanation: Explanation): OwnExplanation {
    const own = this.#withOrder(this.inOwnNames(explanation));
    // What became of the frame later is no cause why the rule did not match.
    const isLater =
      own.target.kind === "rule" && own.reasons[0]?.kind === "no match" && own.mistake?.name === "no-default-flow";
    const earlier = own.reasons.find((one) => one.kind === "earlier rule");
    return {
      ...own,
      mistake:
        isLater || own.mistake === null
          ? null
          : ownMistake(
              own.mistake,
              (table) => this.#leading(table),
              (table) => this.#astray(table),
              this.#formats.every((one) => one.hasWildcardMasks === true),
            ),
      // A rule that no element says is not in the text, so nothing there can change it.
      repairs: own.repairs
        .filter(({ of, rule }) => of !== "rule" || rule === null || this.elements.has(rule))
        .filter((repair) => !this.#isOfConnection(repair))
        .filter((repair) => !this.#leavesOutTag(repair))
        .map((repair) =>
          repair.of === "device"
            ? portRepair(repair, (port) =>
                vxlanPortEdits(
                  this.#sources,
                  this.#options,
                  this.scenario,
                  [port, repair.rule],
                  this.words,
                  this.#asking,
                ),
              )
            : ownRepair(repair, this.words, this.#asking, earlier),
        )
        .filter((repair) => !this.#isRefused(repair)),
    };
  }
}

function tablesOf({ matchers = [] }: Scenario): ReadonlyMap<string, string> {
  return new Map(matchers.flatMap(({ name, table }) => (name === undefined ? [] : [[name, table]])));
}

function elementsByName(scenario: Scenario, elementOf: ImportResult["elementOf"]): ReadonlyMap<string, SourceElement> {
  const elements = new Map<string, SourceElement>();
  for (const key of ["rules", "hostRules", "flows", "deviceFlows"] as const) {
    scenario[key]?.forEach(({ name }, n) => {
      const element = elementOf(`${key}[${n}]`);
      if (element !== undefined && name !== undefined) elements.set(name, element);
    });
  }
  return elements;
}

/** What texts of these formats call fields that they do not name. */
function wordsOf(formats: readonly Format[]): (field: string) => string {
  if (formats.every(({ hasDeviceFields }) => hasDeviceFields === true)) return (field) => field;
  const portName = formats.find((one) => one.portName !== undefined)?.portName ?? "source port";
  return (field) => {
    const [, level, kind] = VLAN_TAG.exec(field) ?? [];
    if (kind !== undefined) return `${level === "inner" ? "inner " : ""}${kind.toUpperCase()}-VLAN tag`;
    return field === SOURCE_PORT ? portName : frameWords(field);
  };
}

/** A text as a name, and what stands in quotation marks in it. */
function namesIn(text: string): string[] {
  return [text, ...[...text.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)];
}
