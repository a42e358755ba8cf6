/** Why a frame ended as it did, or did not reach a target: the answer, the mistake, repairs; more on request. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Explanation, Target } from "flowsteer/explain";
import { Verdict } from "../../parts/verdict.js";
import { way } from "../../state/selection.js";
import { asked } from "../view.js";
import { AskForm } from "./ask.js";
import { Chain, Nearest } from "./chain.js";
import { Repairs } from "./repairs.js";

const open = signal(false);

export function Why(): JSX.Element | null {
  const found = way.value;
  if (found === null) return null;
  const question = asked.value;
  const explanation = question === null ? found.why : question.answer;
  const failed = question?.failed ?? null;
  const { verdict } = found.trace.outcome;
  return (
    <section
      class="why"
      tabIndex={-1}
      aria-label="Why"
      data-verdict={question === null ? verdict : undefined}
      data-open={open.value || undefined}
    >
      <div aria-live="polite" class="why-answer">
        {question !== null && <Question target={question.target} reached={question.answer?.reached ?? false} />}
        {failed !== null && <p class="error">{failed}</p>}
        {question !== null && question.answer === null && failed === null && <p class="muted">Asking the engine…</p>}
        {question === null ? (
          <Sentences />
        ) : (
          explanation !== null && <Answer explanation={explanation} verdict={false} />
        )}
      </div>
      {explanation !== null && <Repairs repairs={explanation.repairs} />}
      <button
        type="button"
        class="quiet more"
        aria-expanded={open.value}
        onClick={() => void (open.value = !open.peek())}
      >
        {open.value ? "Less" : "More"}
      </button>
      {open.value && (
        <div class="why-more">
          {explanation !== null && <Chain explanation={explanation} />}
          {question === null && <Nearest near={found.near} />}
          <AskForm />
        </div>
      )}
    </section>
  );
}

/** What happened to the selected frame. */
export function Sentences(): JSX.Element {
  const why = way.value?.why ?? null;
  return why === null ? <Delivered /> : <Answer explanation={why} verdict />;
}

function Question({ target, reached }: { readonly target: Target; readonly reached: boolean }): JSX.Element {
  return (
    <p class="question">
      {reached ? `It reached ${targetText(target)}.` : `Why not ${targetText(target)}?`}{" "}
      <button type="button" class="quiet" onClick={() => void (asked.value = null)}>
        Back to the end of the frame
      </button>
    </p>
  );
}

function targetText(target: Target): string {
  switch (target.kind) {
    case "vport":
      return `vport ${target.vport}`;
    case "tag":
      return `tag ${target.tag}`;
    case "end":
    case "twice":
      return "delivered";
    default:
      return `${target.kind} "${target.name}"`;
  }
}

function Answer({
  explanation,
  verdict,
}: {
  readonly explanation: Explanation;
  readonly verdict: boolean;
}): JSX.Element {
  const { sentence, mistake } = explanation;
  const outcome = way.value?.trace.outcome;
  return (
    <>
      <p class="sentence">
        {verdict && outcome !== undefined && <Verdict verdict={outcome.verdict} unclaimed={!isLost(outcome.verdict)} />}{" "}
        {sentence}
      </p>
      {mistake !== null && (
        <p class="mistake">
          <span class="muted">looks like</span> <b>{mistake.name.replaceAll("-", " ")}</b>: {mistake.sentence}
        </p>
      )}
    </>
  );
}

/** An answer about the end of another frame is that no rule took it. */
function isLost(verdict: string): boolean {
  return verdict === "miss" || verdict === "drop";
}

/** Where a frame that was not lost went. */
function Delivered(): JSX.Element {
  const outcome = way.value?.trace.outcome;
  if (outcome === undefined) return <></>;
  const { verdict, to, copies } = outcome;
  const names = (list: readonly { readonly name: string }[]): string =>
    [...new Set(list.map(({ name }) => name))].join(", ");
  return (
    <p class="sentence">
      <Verdict verdict={verdict} /> to <b class="mono">{names(to)}</b>
      {copies.length > 0 && (
        <>
          , copies to <b class="mono">{names(copies)}</b>
        </>
      )}
    </p>
  );
}
