/** The JSON of `tc -j filter show`: an array of filters, the keys and the actions of each in its options. */
import { placesOf, type JsonNode } from "../../../../base/json.js";
import { entry, itemsOf, readJson, scalar } from "../../../text/json.js";
import { attempt, NotImported, notImported, type Place, type Word } from "../../../text/refusal.js";
import { jsonAction } from "./jsonActions.js";
import { optionsText, textOf } from "./jsonValues.js";
import { at, hookOf, KEY_NAMES, type Listed } from "./listed.js";

const START = /\[\s*\{\s*"(?:parent|protocol|dev|block|pref|kind|ingress)"\s*:/g;

/** A filter of a listing. It is read when it is needed: the values of a long listing fill the memory. */
export interface JsonFilter {
  readonly place: Place;
  readonly read: () => JsonNode;
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
    const { starts, stray, end, depth } = itemsOf(text, index);
    for (const at of starts) filters.push({ place: place(at), read: () => readFilter(text, at, place) });
    done = end ?? endOfBroken(text, index);
    if (stray !== undefined) {
      const shown = /^.{0,40}/.exec(text.slice(stray))?.[0] ?? "";
      broken.push(new NotImported({ text: shown, place: place(stray) }, `invalid JSON${ADVICE}`));
    }
    // An item that does not end says so itself.
    if (end === undefined && depth === 1) {
      broken.push(new NotImported({ text: "[", place: place(index) }, `the end of this array is missing${ADVICE}`));
    }
    rest += "\n".repeat(place(done).line - place(index).line);
  }
  return { filters, rest: rest + text.slice(done), broken };
}

// iproute2: tc_filter.c, and the print functions of the actions in m_*.c.
const HEAD_KEYS = new Set(
  "protocol pref kind chain options dev block parent ingress egress clsact added deleted replaced".split(" "),
);
const CONTROL_KEYS = new Set(["type", "chain"]);
const ACTION_KEYS = new Set(
  (
    "order kind type action control_action index ref bind installed last_used first_used expires stats cookie no_percpu " +
    "used_hw_stats hw_stats in_hw not_in_hw in_hw_count skip_hw skip_sw prob direction mirred_action to_dev to_blockid " +
    "vlan_action id protocol priority dst_mac src_mac csum rate rate64 group trunc_size mark mask queue_mapping ptype flags " +
    "inheritdsfield zone label nat force commit clear helper mode src_ip dst_ip key_id dst_port geneve_opts vxlan_opts " +
    "erspan_opts flag nofrag tos ttl keys nkeys burst mtu peakrate avrate pkts_rate pkts_burst overhead linklayer exceed " +
    "conform tc bc label bos dst_ip_start dst_ip_end dst_port_start dst_port_end src_ip_start src_ip_end"
  ).split(" "),
);

const ADVICE = ": some versions of tc write it wrong; the text of tc filter show has it all";

function endOfBroken(text: string, from: number): number {
  const end = text.slice(from).search(/\]\s*(?:\n|$)/);
  return end < 0 ? text.length : from + end + 1;
}

/** @throws NotImported */
function readFilter(text: string, from: number, place: (at: number) => Place): JsonNode {
  return attempt(
    () => readJson(text, from, place),
    ({ word, reason }) => notImported(word, `${reason}${ADVICE}`),
  );
}

/**
 * A filter in the words of a command. Undefined for what says only that a priority exists.
 * @throws NotImported
 */
export function listedOf(
  { read, place }: JsonFilter,
  assume: (word: Word, reason: string) => void,
): Listed | undefined {
  const node = read();
  const known = (of: JsonNode | undefined, keys: ReadonlySet<string>): void => {
    if (of?.kind !== "object") return;
    for (const [key] of of.entries) if (!keys.has(key.text)) assume(key, "not a key that tc prints here: ignored");
  };
  known(node, HEAD_KEYS);
  const options = entry(node, "options");
  if (options?.kind !== "object" || options.entries.length === 0) return undefined;
  const head = (name: string): Word | undefined => scalar(entry(node, name));
  const kind = head("kind") ?? { text: "", place };
  if (kind.text === "u32" && entry(options, "match") === undefined) return undefined;
  const hook = hookOf({
    place,
    kind,
    dev: head("dev"),
    block: head("block"),
    parent: head("parent"),
    protocol: head("protocol"),
    pref: head("pref"),
    chain: head("chain"),
    handle: scalar(entry(options, "handle")),
  });
  const words: Word[] = [];
  for (const [name, value] of options.entries) {
    if (name.text === "keys" && value.kind === "object") words.push(...keyWords(value.entries));
    else if (name.text === "actions" && value.kind === "array") {
      for (const action of value.items) {
        known(action, ACTION_KEYS);
        known(entry(action, "control_action"), CONTROL_KEYS);
        words.push(...at(action.place, "action"), ...jsonAction(action));
      }
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
    const text = options === undefined ? textOf(value) : optionsText(value, nodes.get(`${options}_opt_mask`));
    return [named, { text: mask === undefined ? text : `${text}/${maskText(mask.text)}`, place: value.place }];
  });
}

/** Masks are hexadecimal digits, or an address. */
function maskText(mask: string): string {
  return /^[\da-f]+$/i.test(mask) ? `0x${mask}` : mask;
}
