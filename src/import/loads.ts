/** The end of an import: the scenario loads. What the device refuses is refused as the element that it comes from. */
import type { SteeringError } from "../errors.js";
import type { Draft, ListKey } from "../formats/reading/draft.js";
import type { SourceElement } from "../formats/reading/finding.js";
import type { Findings } from "../formats/reading/findings.js";
import { phraseBefore } from "../formats/text/phrases.js";
import { isValue, valueWords } from "../formats/text/values.js";
import { checkScenario } from "../scenario/index.js";

/** Removing an object makes what depends on it fail in the next round. The limit bounds the length of such chains. */
const MAX_ROUNDS = 64;

/**
 * Takes the objects out of a draft that no device has, with a finding each.
 * @param textOf the text of a source by its name
 */
export async function refuseWhatFails(
  draft: Draft,
  findings: Findings,
  textOf: (file: string) => string | undefined,
): Promise<void> {
  const refusing = new Refusing(draft, findings, textOf);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { refusals } = await checkScenario(draft.scenario());
    if (refusals.length === 0) return;
    // The profile is an argument of the import; no text says it.
    const profile = refusals.find(({ path }) => path === "device.profile");
    if (profile !== undefined) throw profile;
    const gone = new Map<ListKey, Set<object>>();
    for (const refusal of refusals) refusing.refuse(refusal, gone);
    if (gone.size === 0) break;
    for (const [key, items] of gone) draft.remove(key, items);
  }
}

class Refusing {
  /** Names of objects that were taken out. */
  readonly #gone = new Set<unknown>();
  readonly #lines = new Map<string, readonly string[]>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly textOf: (file: string) => string | undefined,
  ) {}

  refuse(refusal: SteeringError, gone: Map<ListKey, Set<object>>): void {
    const [place = "", list = "", index = "0"] = /^(\w+)\[(\d+)\]\.?/.exec(refusal.path ?? "") ?? [];
    const items: readonly object[] | undefined = this.draft.list(list as ListKey);
    const item = items?.[Number(index)];
    const origin = item === undefined ? undefined : this.draft.originOf(item);
    if (item === undefined || origin === undefined) {
      // The scenario that is added to, or what all rules share: its device.
      const { file } = this.findings;
      this.findings.refuseAt({ file, line: 1, column: 1 }, refusal.path ?? "", reasonOf(refusal, ""));
      return;
    }
    const of = gone.get(list as ListKey) ?? new Set();
    gone.set(list as ListKey, of);
    if (of.has(item)) return;
    of.add(item);
    const name = "name" in item && typeof item.name === "string" ? item.name : null;
    this.#gone.add(name);
    const reason =
      refusal.reason === "unknown_name" && this.#gone.has(refusal.value)
        ? `it needs "${String(refusal.value)}", which is not imported`
        : reasonOf(refusal, place);
    const { text, column } = this.#wordsOf(origin, item, refusal, (refusal.path ?? "").slice(place.length));
    this.findings.refuseAt(
      { ...origin, column },
      text === "" ? (name ?? place) : text,
      reason,
      list === "rules" ? name : null,
    );
  }

  /** The words of an element that a refusal is about, where they are found: those of a match field, or the actions. */
  #wordsOf(
    origin: SourceElement,
    item: object,
    { message }: SteeringError,
    inner: string,
  ): Pick<SourceElement, "text" | "column"> {
    const { file, line, column, text } = origin;
    const lines = this.#lines.get(file) ?? this.textOf(file)?.split("\n") ?? [];
    this.#lines.set(file, lines);
    // One that goes on in other lines, or is put together otherwise, has its words at other places.
    if (text === "" || lines[line - 1]?.startsWith(text, column - 1) !== true) return origin;
    const at = inner.startsWith("actions") ? text.search(/(?<![\w-])actions?\b/) : -1;
    if (at >= 0) {
      const [, action = ""] = /\] = "?(\w+)"?:/.exec(message) ?? [];
      const named = action === "" ? -1 : text.indexOf(action, at);
      const from = Math.max(at, named);
      return { text: named < 0 ? text.slice(at) : text.slice(from).replace(/[\s,;/()].*/, ""), column: column + from };
    }
    const [, field = ""] = /^match\.([\w.]+)$/.exec(inner) ?? [];
    const value = "match" in item ? (item.match as Readonly<Record<string, unknown>>)[field] : undefined;
    const words = valueWords(text).filter((word) => isValue(word.text, String(value)));
    const [word] = words;
    const phrase = word === undefined || words.length > 1 ? undefined : phraseBefore(text, word.at);
    if (word === undefined || phrase === undefined) return origin;
    return { text: text.slice(phrase.from, word.at + word.text.length), column: column + phrase.from };
  }
}

/** The sentence of a refusal, without the place in a document that the reader of a source does not see. */
function reasonOf({ message, call }: SteeringError, place: string): string {
  const said = message
    .slice(call.length + 1)
    .trim()
    .replace(place, "");
  if (!said.includes("the device ")) return `the device refuses it: ${said}`;
  return said.replace(/(the device refused .*): the device does not support this/, "$1: unsupported");
}
