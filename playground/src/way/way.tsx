/** The pane "Path": what happened to the selected frame. */
import type { JSX } from "preact";
import { FillButton } from "../parts/fillButton.js";
import { stale } from "../state/answer.js";
import { selectedFrame, way } from "../state/selection.js";
import { Caption } from "./bytes/caption.js";
import { HexView } from "./bytes/hex.js";
import { HeaderTree } from "./bytes/tree.js";
import { Picture } from "./picture/picture.js";
import { Stepper } from "./steps/stepper.js";
import { Steps } from "./steps/steps.js";
import { Why } from "./why/why.js";

export function Way(): JSX.Element {
  const found = way.value;
  const frame = selectedFrame.value;
  return (
    <section class="pane way" aria-labelledby="pane-way">
      <header class="way-head">
        <h2 id="pane-way">{frame === null ? "Path" : `Path of frame ${frame}`}</h2>
        {stale.value && found !== null && <span class="stale-note">from the last rules without errors</span>}
        <Stepper />
        <FillButton pane="way" />
      </header>
      <div class="way-body" data-stale={stale.value || undefined} data-empty={found === null || undefined}>
        {found !== null && <Why />}
        <Picture />
        {found === null ? <Empty /> : <Steps />}
        {found !== null && (
          <div class="bytes">
            <HeaderTree />
            <div class="hex-side">
              <HexView />
              <Caption />
            </div>
          </div>
        )}
      </div>
    </section>
  );
}

function Empty(): JSX.Element {
  return (
    <div class="way-empty">
      <p>
        Select a frame to see its path: the tables it passes, the rules it hits, and how each step changes its bytes.
      </p>
      <p class="muted">For a frame that misses or is dropped, it explains why and which change would help.</p>
    </div>
  );
}
