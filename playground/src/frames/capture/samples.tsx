/** Captures that come with the page, each with the rules that it belongs to. */
import type { JSX } from "preact";
import { openSample, SAMPLES } from "../../state/capture.js";

export function Samples(): JSX.Element {
  return (
    <ul class="samples" aria-label="Examples with a capture">
      {SAMPLES.map((sample) => (
        <li key={sample.capture}>
          <button type="button" onClick={() => void openSample(sample)}>
            {sample.title}
          </button>{" "}
          <span class="muted">
            {sample.rules} and {sample.capture}
          </span>
        </li>
      ))}
    </ul>
  );
}
