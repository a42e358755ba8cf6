/** The proved comparison: alike for all frames, or the frames that are treated differently, each with a frame that shows it. */
import type { JSX } from "preact";
import { End } from "./end.js";
import { Limited } from "../limited.js";
import type { ComparedGroup, ComparedRules, TreatedFrame } from "../../proof/api.js";
import { counted } from "../../parts/format.js";
import { ProofProgressLine } from "../../parts/proofProgress.js";
import { compared, comparedIsOld, comparisonProof } from "../../state/difference.js";
import { selectedFrame } from "../../state/selection.js";
import { addWitness, framesByBytes } from "../../state/witnesses.js";
import { verdictOf } from "./provedWords.js";

/** Groups that are shown at first. */
const GROUPS = 20;

export function ProvedChange(): JSX.Element {
  const found = compared.value;
  return (
    <section class="proved" aria-labelledby="totals-proved" data-old={comparedIsOld.value}>
      <h4 id="totals-proved">All possible frames</h4>
      <ProofProgressLine task={comparisonProof} what="Comparing for all frames" />
      {found !== null && <Result result={found.result} />}
    </section>
  );
}

function Result({ result }: { readonly result: ComparedRules }): JSX.Element {
  const { text, shape } = verdictOf(result);
  return (
    <>
      {comparedIsOld.value && <p class="muted">Of the rules before the last edit:</p>}
      <p class="proved-verdict" data-verdict={shape}>
        <span aria-hidden="true">{shape}</span> {text}
      </p>
      <Limited
        items={result.groups}
        noun="group"
        step={GROUPS}
        list={(some) => (
          <ol class="proved-groups" aria-label="Frames that are treated differently">
            {some.map((group) => (
              <li key={group.sentence + group.witness.bytes}>
                <Group group={group} />
              </li>
            ))}
          </ol>
        )}
      />
      {result.unknown > 0 && <Unknown result={result} />}
    </>
  );
}

function Group({ group }: { readonly group: ComparedGroup }): JSX.Element {
  const { sentence, headers, kinds, before, after, witness } = group;
  const known = framesByBytes.value.get(witness.bytes);
  return (
    <>
      <p>{sentenceOf(sentence)}</p>
      <dl>
        <dt>Example</dt>
        <dd class="mono">{headers}</dd>
        <dt>Before</dt>
        <dd>
          <Treated treated={before} />
        </dd>
        <dt>Now</dt>
        <dd>
          <Treated treated={after} />
        </dd>
        <dt>Differs in</dt>
        <dd>{kinds.join(", ")}</dd>
      </dl>
      {known === undefined ? (
        <button
          type="button"
          disabled={comparedIsOld.value}
          onClick={() => addWitness(witness, `shows a difference: ${sentence}`)}
        >
          Add this frame
        </button>
      ) : (
        <button
          type="button"
          aria-pressed={selectedFrame.value === known}
          onClick={() => (selectedFrame.value = known)}
        >
          {`Select frame ${known}`}
        </button>
      )}
    </>
  );
}

function Treated({ treated }: { readonly treated: TreatedFrame }): JSX.Element {
  return (
    <>
      <End end={treated} />{" "}
      <span class="muted">{treated.rules.length === 0 ? "no rule" : `by ${treated.rules.join(", ")}`}</span>
    </>
  );
}

function Unknown({ result }: { readonly result: ComparedRules }): JSX.Element {
  const { unknown, unknownChanges } = result;
  const more = unknown - unknownChanges.length;
  return (
    <>
      <p>{`${counted(unknown, "change")}, where it is not known whether a frame can notice ${unknown === 1 ? "it" : "them"}:`}</p>
      <ul class="lines">
        {unknownChanges.map(({ sentence, tried }, i) => (
          <li key={i}>
            {sentenceOf(sentence)} <span class="muted">Tried: {tried}.</span>
          </li>
        ))}
        {more > 0 && <li class="muted">{counted(more, "more change")}</li>}
      </ul>
    </>
  );
}

/** A sentence of the prover as one of the page. */
function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
