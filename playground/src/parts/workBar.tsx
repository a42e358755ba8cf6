/** Work that has taken longer than 200 ms: what it is, how far it is, and a button that stops it. */
import type { JSX } from "preact";
import { work } from "../state/answer.js";
import { stopWork } from "../state/steering.js";
import { countText } from "./format.js";

export function WorkBar(): JSX.Element | null {
  const now = work.value;
  if (now === null) return null;
  const { what, done, total } = now;
  return (
    <section class="work" aria-labelledby="work-what">
      <span id="work-what">{what}</span>
      <progress aria-labelledby="work-what" {...(total > 0 ? { value: done, max: total } : {})} />
      <span class="muted">{total > 0 ? `${Math.floor((done / total) * 100)} %` : countText(done)}</span>
      <button type="button" onClick={() => void stopWork()}>
        Stop
      </button>
    </section>
  );
}
