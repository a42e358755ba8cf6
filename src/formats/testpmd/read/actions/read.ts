/** Reads lists of actions. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import type { Connection } from "../settings/conntrack.js";
import { unknownWord, valueOf } from "../values.js";
import { ACTION_NAMES, ACTIONS, REFUSED_ACTIONS, type ActionKind } from "./actions.js";
import { readModifyField, type FieldChange } from "./modifyField.js";
import { readRss, type Rss } from "./rss.js";

export interface Action {
  readonly word: Word;
  readonly name: string;
  /** Undefined for an action that has no equal; `refused` says why. */
  readonly kind: ActionKind | undefined;
  readonly refused?: string;
  readonly values: ReadonlyMap<string, { readonly value: bigint; readonly word: Word }>;
  readonly rss?: Rss;
  readonly change?: FieldChange;
  /** The number of an indirect action. */
  readonly handle?: bigint;
  /** What `conntrack` tracks. */
  readonly connection?: Connection;
}

/** Reads actions up to `end`, which is taken too. @throws NotImported */
export function readActions(words: Cursor): Action[] {
  const actions: Action[] = [];
  for (;;) {
    const word = words.next('the "end" of the actions');
    if (word.text === "end") return actions;
    actions.push(readAction(word, words));
  }
}

function readAction(word: Word, words: Cursor): Action {
  const name = word.text;
  const refused = Object.hasOwn(REFUSED_ACTIONS, name) ? REFUSED_ACTIONS[name] : undefined;
  if (refused !== undefined) {
    words.skipTo("/");
    return { word, name, kind: undefined, refused, values: new Map() };
  }
  const kind = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (kind === undefined) return unknownWord(word, "action", ACTION_NAMES);
  if (kind.does === "rss") return { word, name, kind, values: new Map(), rss: readRss(words) };
  if (kind.does === "modifyField") return { word, name, kind, values: new Map(), change: readModifyField(words) };
  if (kind.does === "indirect") return { ...readHandle(words), word, name, kind };
  return { word, name, kind, values: readValues(name, kind, words) };
}

function readHandle(words: Cursor): Pick<Action, "handle" | "values"> {
  const handle = valueOf(words.next("the number of an indirect action"), "indirect", 32);
  const behind = words.next('the "/" after an action');
  if (behind.text !== "/") notImported(behind, `"/" is missing before ${behind.text}`);
  return { handle, values: new Map() };
}

function readValues(name: string, kind: ActionKind, words: Cursor): Action["values"] {
  const values = new Map<string, { value: bigint; word: Word }>();
  const known = kind.arguments ?? {};
  while (!words.take("/")) {
    const word = words.next('the "/" after an action');
    const argument = Object.hasOwn(known, word.text) ? known[word.text] : undefined;
    // "age" and "sample" can be said twice.
    if (argument === undefined && word.text === name && (name === "age" || name === "sample")) continue;
    if (argument === undefined) {
      if (ACTION_NAMES.includes(word.text)) notImported(word, `"/" is missing between ${name} and ${word.text}`);
      return unknownWord(word, `argument of ${name}`, Object.keys(known));
    }
    const operand = words.next(`the value of ${word.text}`);
    values.set(word.text, {
      word: operand,
      value: valueOf(operand, `${name} ${word.text}`, argument.bits, argument.kind),
    });
  }
  return values;
}
