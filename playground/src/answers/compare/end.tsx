/** How a frame ended, in one line. */
import type { JSX } from "preact";
import type { FrameEnd } from "../../engine/api.js";
import { CopyShape, Verdict } from "../../parts/verdict.js";

export function End({ end }: { readonly end: FrameEnd }): JSX.Element {
  const { verdict, reason, to, copies } = end;
  return (
    <span class="end">
      {verdict === null ? "not steered" : <Verdict verdict={verdict} />}
      {reason !== null && <code>{reason}</code>}
      {to.map((name, i) => (
        <code key={i}>{name}</code>
      ))}
      {copies.length > 0 && (
        <span class="copy-text">
          <CopyShape /> {copies.join(", ")}
        </span>
      )}
    </span>
  );
}
