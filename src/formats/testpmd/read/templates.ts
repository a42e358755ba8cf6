/** Templates of the asynchronous API: what is compared, and what is done, is said before the rules. */
import type { Cursor } from "../../text/words.js";
import { notImported, type Word } from "../../text/refusal.js";
import { readActions, type Action } from "./actions/read.js";
import { maskOf, readPattern, type FieldValue, type Item } from "./pattern/read.js";
import type { Domain } from "./rules.js";
import { numberAt, unknownWord } from "./values.js";

export interface TemplateTable {
  readonly domain: Domain;
  readonly group: bigint;
  readonly priority: bigint;
  readonly patterns: readonly (readonly Item[])[];
  readonly actions: readonly ActionsTemplate[];
}

interface ActionsTemplate {
  readonly actions: readonly Action[];
  readonly masks: readonly Action[];
}

const DIRECTIONS: Readonly<Record<string, Domain>> = { ingress: "nic_rx", egress: "nic_tx", transfer: "fdb" };

export class Templates {
  readonly #patterns = new Map<string, readonly Item[]>();
  readonly #actions = new Map<string, ActionsTemplate>();
  readonly #tables = new Map<string, TemplateTable>();

  /** `flow pattern_template PORT create ... template PATTERN end`. @throws NotImported */
  addPattern(port: bigint, words: Cursor): void {
    const id = this.#attributes(words, "pattern_template_id", "relaxed");
    this.#patterns.set(`${port} ${id}`, readPattern(words));
  }

  /** `flow actions_template PORT create ... template ACTIONS end mask ACTIONS end`. @throws NotImported */
  addActions(port: bigint, words: Cursor): void {
    const id = this.#attributes(words, "actions_template_id");
    const actions = readActions(words);
    if (!words.take("mask")) unknownWord(words.next('"mask"'), "word here", ["mask"]);
    this.#actions.set(`${port} ${id}`, { actions, masks: readActions(words) });
  }

  /** The attributes up to `template`. @returns the number of the template */
  #attributes(words: Cursor, idKey: string, flag?: string): bigint {
    let id: bigint | undefined;
    for (;;) {
      const word = words.next('"template"');
      if (word.text === "template") break;
      if (word.text === idKey) id = numberAt(words.next("a number"), idKey, 32);
      else if (word.text === flag) words.next("yes or no");
      else if (DIRECTIONS[word.text] === undefined) {
        unknownWord(word, "attribute", [
          idKey,
          ...(flag === undefined ? [] : [flag]),
          ...Object.keys(DIRECTIONS),
          "template",
        ]);
      }
    }
    return id ?? 0n;
  }

  /** `flow template_table PORT create ...`. @throws NotImported */
  addTable(port: bigint, words: Cursor): void {
    let [id, group, priority] = [0n, 0n, 0n];
    let domain: Domain | undefined;
    const patterns: (readonly Item[])[] = [];
    const actions: ActionsTemplate[] = [];
    const number = (key: string): bigint => numberAt(words.next(`the value of ${key}`), key, 32);
    while (!words.done) {
      const word = words.next("an attribute");
      const key = word.text;
      if (key === "table_id") id = number(key);
      else if (key === "group") group = number(key);
      else if (key === "priority") priority = number(key);
      else if (key === "rules_number") number(key);
      else if (key === "pattern_template") patterns.push(found(this.#patterns, port, number(key), word));
      else if (key === "actions_template") actions.push(found(this.#actions, port, number(key), word));
      else domain = DIRECTIONS[key] ?? unknownWord(word, "attribute of a table", TABLE_KEYS);
    }
    if (domain === undefined) notImported(words.next("one of ingress, egress, transfer"), "");
    this.#tables.set(`${port} ${id}`, { domain, group, priority, patterns, actions });
  }

  /** @throws NotImported */
  table(port: bigint, id: bigint, word: Word): TemplateTable {
    return found(this.#tables, port, id, word);
  }
}

const TABLE_KEYS = [
  ...["table_id", "group", "priority", "rules_number", "pattern_template", "actions_template"],
  ...Object.keys(DIRECTIONS),
];

function found<One>(all: ReadonlyMap<string, One>, port: bigint, id: bigint, word: Word): One {
  return all.get(`${port} ${id}`) ?? notImported(word, `port ${port} has no ${word.text} ${id} before this`);
}

/** The pattern of a rule: the values are its own, the masks those of the template. @throws NotImported */
export function withMasks(items: readonly Item[], template: readonly Item[], word: Word): Item[] {
  const [own, masks] = [items, template].map((all) => all.filter(({ name }) => name !== "void")) as [Item[], Item[]];
  const names = (all: readonly Item[]): string => all.map(({ name }) => name).join(" / ");
  if (names(own) !== names(masks))
    notImported(word, `its items are ${names(own)}, those of the template ${names(masks)}`);
  return own.map((item, n) => masked(item, masks[n] as Item));
}

function masked(item: Item, template: Item): Item {
  const fields = new Map<string, FieldValue>();
  // A template needs no values: a mask alone says what is compared.
  const compares = { ...template, hasSpec: template.hasSpec || item.hasSpec };
  for (const [name, { partOf }] of Object.entries(item.kind.fields)) {
    if (partOf !== undefined) continue;
    const mask = maskOf(compares, name);
    const { spec = 0n, last = 0n, word = item.word } = item.fields.get(name) ?? {};
    if (mask !== 0n) fields.set(name, { word, spec, last, mask });
  }
  return { ...item, fields, hasSpec: fields.size > 0, hasMask: fields.size > 0 };
}

/** The actions of a rule: what the masks of the template have is the template's. @throws NotImported */
export function withTemplate(
  actions: readonly Action[],
  { actions: fixed, masks }: ActionsTemplate,
  word: Word,
): Action[] {
  const names = (all: readonly Action[]): string => all.map(({ name }) => name).join(" / ");
  if (names(actions) !== names(fixed)) {
    notImported(word, `its actions are ${names(actions)}, those of the template ${names(fixed)}`);
  }
  return actions.map((action, n) => {
    const mask = masks[n];
    const values = new Map(action.values);
    for (const [key, { value }] of mask?.values ?? []) {
      const given = fixed[n]?.values.get(key);
      if (value !== 0n && given !== undefined) values.set(key, given);
    }
    const isFixed = action.name === "modify_field" && fixed[n] !== undefined;
    return isFixed ? (fixed[n] as Action) : { ...action, values };
  });
}
