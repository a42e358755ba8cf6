/** The totals: a strip that is always in view, and above it, opened, all of them. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { comparing, pinRules } from "../state/compare.js";
import { registerCommands } from "../state/commands.js";
import { answer, stale } from "../state/answer.js";
import { totalsOpen } from "../state/view.js";
import { Strip } from "./strip.js";

export function Answers(): JSX.Element {
  useEffect(
    () =>
      registerCommands([
        { id: "totals.toggle", title: "Show or hide totals", key: "t", run: toggleTotals },
        { id: "compare.toggle", title: "Compare with the rules as opened, or stop", key: "c", run: toggleComparison },
        { id: "compare.pin", title: "Pin these rules to compare with them", run: () => !stale.peek() && pinRules() },
      ]),
    [],
  );
  return (
    <section class="answers" aria-labelledby="pane-totals" data-stale={stale.value} data-open={totalsOpen.value}>
      {totalsOpen.value && <Opened />}
      <Strip />
    </section>
  );
}

/** The larger view is loaded when it is opened for the first time. */
function Opened(): JSX.Element | null {
  const [View, setView] = useState<ComponentType | null>(null);
  useEffect(() => {
    void import("./opened.js").then(({ Totals }) => setView(() => Totals));
  }, []);
  return View === null || answer.value === null ? null : <View />;
}

function toggleTotals(): void {
  totalsOpen.value = !totalsOpen.peek();
}

function toggleComparison(): void {
  comparing.value = comparing.peek() === null ? "opened" : null;
}
