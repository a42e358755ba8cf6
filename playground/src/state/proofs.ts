/** What proofs say of the rules of the moment: findings, rules that no frame hits, and frames for the others. */
import { computed, effect, signal } from "@preact/signals";
import { onFirstUse } from "../parts/firstUse.js";
import type { DeadRule, LiveRule, Proved, ProvedFinding } from "../proof/api.js";
import { startProof, type ProofWork } from "../proof/client.js";
import { answer, refusals } from "./answer.js";
import { rules } from "./document.js";
import { remove } from "./edits.js";
import { warnings, type Finding } from "./findings.js";

/** Milliseconds without an edit before proofs begin, and that they may take. */
const QUIET = 400;
const LIMIT = 30_000;

/** Rules that no frame hits. */
export const deadRules = signal<readonly DeadRule[]>([]);
/** Rules with a frame that hits them. */
export const liveRules = signal<readonly LiveRule[]>([]);

/** Whether the last text that was answered is accepted. */
const accepted = computed(() => answer.value !== null && refusals.value.length === 0);

/** Begins, once the page is used. Proofs end with the next edit. */
export function startProving(): void {
  onFirstUse(() =>
    effect(() => {
      const text = rules.value;
      if (!accepted.value) {
        show(text, null);
        return undefined;
      }
      if (text === proved) return undefined;
      let work: ProofWork<Proved> | null = null;
      const timer = setTimeout(() => {
        work = startProof((prover) => prover.prove(text), LIMIT);
        void work.result.then((found) => {
          if (text === rules.peek() && refusals.peek().length === 0) show(text, found);
        });
      }, QUIET);
      return () => {
        clearTimeout(timer);
        work?.stop();
      };
    }),
  );
}

/** The rules that what is shown is about. */
let proved: string | null = null;

function show(text: string, found: Proved | null): void {
  proved = found === null ? null : text;
  deadRules.value = found?.dead ?? [];
  liveRules.value = found?.live ?? [];
  warnings.value = (found?.findings ?? []).map((one) => findingOf(text, one));
}

function findingOf(text: string, { severity, text: sentence, path, fix }: ProvedFinding): Finding {
  const fixes = fix === null ? [] : [{ title: titleOf(fix.sentence), edits: removing(text, fix.path) }];
  return { severity, text: sentence, hint: null, path, offset: null, fixes };
}

/** `Remove it.` on a button. */
function titleOf(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** A place holds only in the text that it was found in. */
function removing(checked: string, path: string): Finding["fixes"][number]["edits"] {
  return (text) => (text === checked ? remove(text, path) : null);
}
