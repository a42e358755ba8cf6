/** Flows and groups of OpenFlow as texts have them. */
import { numberOf } from "../../text/numbers.js";
import { actionsOf } from "./actions.js";
import { implies } from "./conjunction.js";
import { ANY_KIND, ABOUT, readMatch, TIMEOUTS, type Assume, type MatchWord } from "./match.js";
import type { Group } from "./pipeline/state.js";
import type { Act, Flow, FlowMatch } from "./steps.js";
import { notImported } from "../../text/refusal.js";
import type { Piece } from "./text.js";

const PRIORITY = 32768;
/** More than there are fields. */
const MAX_WORDS = 512;

/** @param file the source of the text. @throws NotImported */
export function readFlow(text: Piece, assume: Assume, file = ""): Flow {
  const [before, after] = text.cut("actions=") ?? text.cut("action=") ?? [text, text.part(text.to - text.from)];
  let table = "0";
  let priority = PRIORITY;
  const words: MatchWord[] = [];
  const named: string[] = [];
  const pieces = before.split(", \t");
  if (pieces.length > MAX_WORDS) notImported(before.part(0, 40), `a flow has ${MAX_WORDS} words at most`);
  for (const piece of pieces) {
    const [name, value] = keyAndValue(piece);
    const key = name.text.toLowerCase();
    const about = ABOUT[key];
    if (about !== undefined) {
      if (!about.test(value?.text ?? "")) notImported(piece, `"${value?.text ?? ""}" is not a value of ${key}`);
      continue;
    }
    if (TIMEOUTS.includes(key)) {
      if (value?.text !== "0") assume(piece, "rules of the device have no timeouts: the rule stays");
      continue;
    }
    if ((key === "table" || key === "table_id") && value !== undefined) table = value.unquoted();
    else if (key === "priority" && value !== undefined) priority = numberOf(value, "a priority", 16);
    else {
      words.push({ name, value });
      named.push(piece.text);
    }
  }
  const name = [`table=${table}`, ...(priority === PRIORITY ? [] : [`priority=${priority}`]), ...named].join(",");
  const place = before.from < before.to ? before.place : after.place;
  const { match, kind, isTagged } = readMatch(words, assume);
  const acts = actionsOf(after, { kind, table, isTagged });
  return {
    name,
    place,
    text: shown(name),
    table,
    priority,
    match,
    acts,
    origin: { file, ...place, text: text.text },
    identity: `${table} ${priority} ${identityOf(match)}`,
  };
}

/** `in_port=1`; `in_port:1` and `in_port(1)` say the same. */
function keyAndValue(piece: Piece): readonly [Piece, Piece | undefined] {
  const { text } = piece;
  const at = text.search(/[=:(]/);
  if (at < 0) return [piece, undefined];
  const isCall = text[at] === "(" && text.endsWith(")");
  return [piece.part(0, at), piece.part(at + 1, text.length - Number(isCall))];
}

const MAX_SHOWN = 120;
const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text);

/** The same text for matches of the same frames. */
function identityOf({ inPort = "", asks, either, tunnel, conjunction }: FlowMatch): string {
  const bits = [...asks, ...either.flat(2)].map(({ field, value, mask }) => `${field}=${value}/${mask}`).sort();
  const tunnels = Object.entries(tunnel)
    .map(([name, { value, mask }]) => `${name}=${value}/${mask}`)
    .sort();
  return [inPort, String(conjunction), ...bits, ...tunnels].join();
}

/** The flows that a change of a match is about: those of the same match, or those whose frames all have it. @throws NotImported */
export function flowsOf(
  flows: ReadonlyMap<string, Flow>,
  pattern: Flow,
  isStrict: boolean,
  isOfTable: boolean,
): readonly Flow[] {
  if (isStrict) return [flows.get(pattern.identity) ?? []].flat();
  const { either, tunnel } = pattern.match;
  if (either.length > 0 || Object.keys(tunnel).length > 0)
    notImported(pattern, "flows are not found by fields of a tunnel, nor by those that leave several values open");
  return [...flows.values()].filter(
    ({ table, match }) => (!isOfTable || table === pattern.table) && implies(match, pattern.match),
  );
}

/** `group_id=1,type=all,bucket=...`. @throws NotImported */
export function readGroup(text: Piece): readonly [string, Group] {
  const starts = [...text.text.matchAll(/(?:^|,)\s*bucket=/g)].map(
    ({ index, 0: { length } }) => [index, index + length] as const,
  );
  const head = text.part(0, starts[0]?.[0]);
  let id = "";
  let type = "all";
  for (const piece of head.split(", \t")) {
    const [name, value] = piece.cut("=") ?? [piece, piece];
    if (name.text === "group_id") id = value.text;
    else if (name.text === "type") type = value.text.toLowerCase();
    else if (!GROUP_WORDS.test(piece.text))
      notImported(piece, `a group has no ${piece.text}: it has group_id, type and buckets`);
  }
  const buckets = starts.map(([, from], n) => readBucket(text.part(from, starts[n + 1]?.[0])));
  return [id, { type, buckets, place: text.place }];
}

/** How a group of type `select` chooses, which is refused if it has several buckets; and what a dump has counted. */
const GROUP_WORDS =
  /^(?:command_bucket_id|selection_method|selection_method_param|fields|hash|properties|n_buckets|ref_count|duration|packet_count|byte_count)\b/;

const BUCKET_WORDS = /^(?:(?:bucket_id|weight|watch_port|watch_group)[:=]\s*[^,\s]+[,\s]*)+/;

function readBucket(text: Piece): readonly Act[] {
  const [, named] = text.cut("actions=") ?? [];
  const list = named ?? text.part(BUCKET_WORDS.exec(text.text)?.[0].length ?? 0);
  return actionsOf(list, { kind: ANY_KIND, table: "0", isTagged: null });
}
