/** What proofs say of the rules of the moment: findings, rules that no frame hits, and frames for the others. */
import { batch, effect, signal } from "@preact/signals";
import { onFirstUse } from "./firstUse.js";
import type { DeadRule, LiveRule, Proved, ProvedFinding } from "../proof/api.js";
import { accepted } from "./answer.js";
import { rules } from "./document.js";
import { remove } from "./edits.js";
import { markedRange, proved, type Finding } from "./findings.js";
import { filtered, following, type RangeNow } from "./moved.js";
import { rangeOf } from "../text/places.js";
import { ProofTask } from "./proofTask.js";

export const rulesProof = new ProofTask<Proved>();

/** A rule that something is proved of, with its place now. */
type Placed<T> = T & { readonly range: RangeNow };

interface ProvedRules {
  readonly dead: readonly Placed<DeadRule>[];
  readonly live: readonly Placed<LiveRule>[];
}

const provedRules = signal<ProvedRules>({ dead: [], live: [] });
const isThere = ({ range }: Placed<unknown>): boolean => range(rules.value) !== null;

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
        (found) => {
          if (accepted.peek()) show(text, found);
        },
      );
    }),
  );
}

function show(text: string, found: Proved | null): void {
  const follow = following(text);
  const placed = <T extends { readonly path: string }>(all: readonly T[]): Placed<T>[] =>
    all.flatMap((one) => {
      const range = rangeOf(text, one.path);
      return range === null ? [] : [{ ...one, range: follow(range) }];
    });
  batch(() => {
    provedRules.value = { dead: placed(found?.dead ?? []), live: placed(found?.live ?? []) };
    proved.value =
      found === null ? null : { text, findings: found.findings.map((one) => findingOf(text, one, follow)) };
  });
}

function findingOf(
  text: string,
  { severity, text: sentence, path, fix }: ProvedFinding,
  follow: ReturnType<typeof following>,
): Finding {
  const fixes = fix === null ? [] : [{ title: titleOf(fix.sentence), edits: removing(text, fix.path) }];
  const mark = markedRange(text, { path, offset: null });
  const whole = (path === null ? null : rangeOf(text, path)) ?? mark;
  const range = whole === null || mark === null ? null : follow(whole, mark);
  return { severity, text: sentence, hint: null, path, offset: null, fixes, range };
}

/** `Remove it.` on a button. */
function titleOf(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** A place holds only in the text that it was found in. */
function removing(checked: string, path: string): Finding["fixes"][number]["edits"] {
  return (text) => (text === checked ? remove(text, path) : null);
}
