/** What proofs say of the rules of the moment: findings, rules that no frame hits, and frames for the others. */
import { batch, effect, signal } from "@preact/signals";
import { onFirstUse } from "./firstUse.js";
import type { DeadRule, LiveRule, Proved, ProvedFinding } from "../proof/api.js";
import { accepted } from "./answer.js";
import { rules, source, written } from "./document.js";
import { remove, type Edit } from "./edits.js";
import { markedRange, proved, type Finding } from "./findings.js";
import { aboutElements } from "../importing/client.js";
import { elementRange, imported, type Imported } from "./imported.js";
import { filtered, following, type RangeNow } from "./moved.js";
import { rangeOf, type TextRange } from "../text/places.js";
import { ProofTask } from "./proofTask.js";

export const rulesProof = new ProofTask<Proved>();

/** A rule that something is proved of, with its place now. */
type Placed<T> = T & { readonly range: RangeNow };

interface ProvedRules {
  readonly dead: readonly Placed<DeadRule>[];
  readonly live: readonly Placed<LiveRule>[];
}

const provedRules = signal<ProvedRules>({ dead: [], live: [] });
const isThere = ({ range }: Placed<unknown>): boolean => range(written.value) !== null;

/** Rules that no frame hits, as far as no edit has touched them since. */
export const deadRules = filtered(() => provedRules.value.dead, isThere);
/** Rules with a frame that hits them. */
export const liveRules = filtered(() => provedRules.value.live, isThere);

/** Begins, once the page is used. Proofs end with the next edit. */
export function startProving(): void {
  onFirstUse(() =>
    effect(() => {
      const text = rules.value;
      if (!accepted.value) {
        show(text, null);
        return undefined;
      }
      if (text === proved.peek()?.text) return undefined;
      return rulesProof.ask(
        (prover) => prover.prove(text),
        (found) => void showFound(text, found),
      );
    }),
  );
}

/** Shows proofs, unless the rules have changed since. */
async function showFound(text: string, found: Proved | null): Promise<void> {
  const read = imported.peek();
  const own = found === null || read === null ? found : await ofElements(found, read);
  if (text === rules.peek() && accepted.peek()) show(text, own);
}

/** What proofs say of the elements of a text. An element may be several rules: it is dead if all of them are. */
async function ofElements(found: Proved, { places }: Imported): Promise<Proved> {
  const keyOf = ({ path }: { readonly path: string }): number | undefined => places.get(path)?.from;
  const dead = new Set(found.dead.map(({ path }) => path));
  const alive = new Set([...places.keys()].filter((path) => !dead.has(path)).map((path) => keyOf({ path })));
  const findings = await aboutElements(found.findings);
  return {
    findings: findings.filter(({ path }) => path === null || places.has(path)),
    dead: found.dead.filter((one) => places.has(one.path) && !alive.has(keyOf(one))),
    live: found.live,
  };
}

/** Where parts of the scenario are in the text that is edited. */
interface Ranges {
  /** An object. */
  readonly rangeOf: (path: string) => RangeNow | null;
  /** What is marked of it. */
  readonly markOf: (path: string | null) => RangeNow | null;
}

function rangesIn(text: string): Ranges {
  if (source.peek() !== null)
    return { rangeOf: elementRange, markOf: (path) => (path === null ? null : elementRange(path)) };
  const follow = following(text);
  return {
    rangeOf: (path) => {
      const range = rangeOf(text, path);
      return range === null ? null : follow(range);
    },
    markOf: (path) => {
      const mark = markedRange(text, { path, offset: null });
      const whole = (path === null ? null : rangeOf(text, path)) ?? mark;
      return whole === null || mark === null ? null : follow(whole, mark);
    },
  };
}

function show(text: string, found: Proved | null): void {
  const ranges = rangesIn(text);
  const placed = <T extends { readonly path: string }>(all: readonly T[]): Placed<T>[] =>
    all.flatMap((one) => {
      const range = ranges.rangeOf(one.path);
      return range === null ? [] : [{ ...one, range }];
    });
  batch(() => {
    provedRules.value = { dead: placed(found?.dead ?? []), live: placed(found?.live ?? []) };
    proved.value =
      found === null ? null : { text, findings: found.findings.map((one) => findingOf(text, one, ranges)) };
  });
}

function findingOf(text: string, { severity, text: sentence, path, fix }: ProvedFinding, { markOf }: Ranges): Finding {
  const edits = fix === null ? null : removing(text, fix.path);
  const fixes = fix === null || edits === null ? [] : [{ title: titleOf(fix.sentence), edits }];
  return {
    severity,
    text: sentence,
    hint: null,
    path: source.peek() === null ? path : null,
    offset: null,
    fixes,
    range: markOf(path),
  };
}

/** `Remove it.` on a button. */
function titleOf(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** A place holds only in the text that it was found in. Null: the text says other things in the same place. */
function removing(checked: string, path: string): Finding["fixes"][number]["edits"] | null {
  const read = imported.peek();
  if (read === null) return (text) => (text === checked ? remove(text, path) : null);
  const range = read.places.get(path);
  if (range === undefined || [...read.places.values()].filter(({ from }) => from === range.from).length > 1)
    return null;
  return (text) => (text === read.of.text ? [withLine(text, range)] : null);
}

/** Takes a part of a text out, and its line if nothing else is on it. */
function withLine(text: string, { from, to }: TextRange): Edit {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end = text.indexOf("\n", to);
  const isAlone = text.slice(start, from).trim() === "" && (end < 0 ? "" : text.slice(to, end)).trim() === "";
  if (!isAlone) return { offset: from, length: to - from, content: "" };
  return { offset: start, length: (end < 0 ? text.length : end + 1) - start, content: "" };
}
