/** The JSON of `tc -j filter show`: an array of filters, the keys and the actions of each in its options. */
import { entry, placesOf, readJson, scalar, type JsonNode } from "../../text/json.js";
import { NotImported, type Place, type Word } from "../../text/refusal.js";
import { jsonAction } from "./jsonActions.js";
import { geneveText, textOf } from "./jsonValues.js";
import { at, hookOf, KEY_NAMES, type Listed } from "./listed.js";

const START = /\[\s*\{\s*"(?:parent|protocol|dev|block|pref|kind|ingress)"\s*:/g;

/** A filter of a listing. */
export interface JsonFilter {
  readonly place: Place;
  readonly node: JsonNode;
}

/**
 * Takes the JSON out of a text.
 *
 * @returns its filters, the text without them, whose lines stay in place, and what is broken in it
 */
export function takeJson(text: string): { filters: JsonFilter[]; rest: string; broken: NotImported[] } {
  const place = placesOf(text);
  const filters: JsonFilter[] = [];
  const broken: NotImported[] = [];
  let rest = "";
  let done = 0;
  for (const { index } of text.matchAll(START)) {
    if (index < done) continue;
    rest += text.slice(done, index);
    done = endOf(text, index, place, (node) => filters.push({ place: node.place, node }), broken);
    rest += text.slice(index, done).replaceAll(/[^\n]/g, "");
  }
  return { filters, rest: rest + text.slice(done), broken };
}

function endOf(
  text: string,
  from: number,
  place: (at: number) => Place,
  add: (node: JsonNode) => void,
  broken: NotImported[],
): number {
  try {
    const { node, end } = readJson(text, from, place);
    if (node.kind === "array") for (const one of node.items) add(one);
    return end;
  } catch (error) {
    if (!(error instanceof NotImported)) throw error;
    const { word, reason } = error;
    broken.push(
      new NotImported(word, `${reason}: some versions of tc write it wrong; the text of tc filter show has it all`),
    );
    const end = text.slice(from).search(/\]\s*(?:\n|$)/);
    return end < 0 ? text.length : from + end + 1;
  }
}

/** A filter in the words of a command. Undefined for what says only that a priority exists. @throws NotImported */
export function listedOf({ node, place }: JsonFilter): Listed | undefined {
  const options = entry(node, "options");
  if (options?.kind !== "object" || options.entries.length === 0) return undefined;
  const head = (name: string): Word | undefined => scalar(entry(node, name));
  const kind = head("kind") ?? { text: "", place };
  if (kind.text === "u32" && entry(options, "match") === undefined) return undefined;
  const hook = hookOf({
    ...{ place, kind, dev: head("dev"), block: head("block"), parent: head("parent"), protocol: head("protocol") },
    ...{ pref: head("pref"), chain: head("chain"), handle: scalar(entry(options, "handle")) },
  });
  const words: Word[] = [];
  for (const [name, value] of options.entries) {
    if (name.text === "keys" && value.kind === "object") words.push(...keyWords(value.entries));
    else if (name.text === "actions" && value.kind === "array") {
      for (const action of value.items) words.push(...at(action.place, "action"), ...jsonAction(action));
    } else if (name.text !== "handle") words.push(...flagWords(name, value));
  }
  return { hook, words };
}

/** `"skip_sw": true` is a flag, `"classid": "1:3"` has a value. */
function flagWords(name: Word, value: JsonNode): Word[] {
  const word = scalar(value);
  if (word === undefined) return [name];
  if (word.text === "false") return [];
  return word.text === "true" ? [name] : [name, word];
}

type Entries = readonly (readonly [Word, JsonNode])[];

function keyWords(entries: Entries): Word[] {
  const nodes = new Map(entries.map(([key, value]) => [key.text, value]));
  return entries.flatMap(([key, value]) => {
    const name = key.text;
    if (name.endsWith("_mask") && nodes.has(name.replace(/_mask$/, ""))) return [];
    if (/_opt_mask$/.test(name)) return [];
    const options = /^(\w+)_opt_key$/.exec(name)?.[1];
    const mask = scalar(nodes.get(`${name}_mask`));
    const named = { ...key, text: options === undefined ? (KEY_NAMES[name] ?? name) : `${options}_opts` };
    const text = options === undefined ? textOf(value) : geneveText(value, nodes.get(`${options}_opt_mask`));
    return [named, { text: mask === undefined ? text : `${text}/${hexOf(mask.text)}`, place: value.place }];
  });
}

/** Masks are hexadecimal digits, or an address. */
function hexOf(mask: string): string {
  return /^[\da-f]+$/i.test(mask) ? `0x${mask}` : mask;
}
