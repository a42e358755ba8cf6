/** Hits by rule as a row of small bars, and the rules that no frame hit by name. */
import type { JSX } from "preact";
import type { Totals } from "../engine/api.js";
import { counted, countText } from "../parts/format.js";
import { selectedPath } from "../state/selection.js";
import { totalsOpen } from "../state/view.js";

type RuleHits = Totals["rules"][number];

/** Bars that fit; more rules than that share bars. */
const MAX_BARS = 48;
/** Rules that are named. */
const MAX_NAMES = 2;

export function HitsLine({ totals: { rules } }: { readonly totals: Totals }): JSX.Element | null {
  if (rules.length === 0) return null;
  const never = rules.filter(({ frames }) => frames === 0);
  const hit = rules.length - never.length;
  return (
    <div class="hits">
      <button
        type="button"
        class="quiet"
        aria-label={`Hits by rule: ${countText(hit)} of ${counted(rules.length, "rule")} hit. Open the totals`}
        onClick={open}
      >
        <span aria-hidden="true">hits by rule</span>
        <Spark rules={rules} />
      </button>
      {never.length > 0 && <NeverHit never={never} />}
    </div>
  );
}

function NeverHit({ never }: { readonly never: readonly RuleHits[] }): JSX.Element {
  const named = never.slice(0, MAX_NAMES);
  const others = never.length - named.length;
  return (
    <p class="never">
      <span class="muted">
        <span aria-hidden="true">○</span> never hit:
      </span>
      {named.map(({ name, path }) => (
        <button
          key={path}
          type="button"
          class="quiet"
          aria-pressed={selectedPath.value === path}
          title={`Select rule ${name}`}
          onClick={() => (selectedPath.value = path)}
        >
          {name}
        </button>
      ))}
      {others > 0 && (
        <button type="button" class="quiet" onClick={open} title="Open the totals">
          {`and ${countText(others)} more`}
        </button>
      )}
    </p>
  );
}

/** Bars on a scale of square roots, on which few hits beside many still show. */
function Spark({ rules }: { readonly rules: readonly RuleHits[] }): JSX.Element {
  const bars = barsOf(rules);
  const most = Math.max(...bars.map(({ frames }) => frames), 1);
  return (
    <span class="spark" aria-hidden="true">
      {bars.map(({ path, name, frames }) => (
        <span
          key={path}
          title={`${name}: ${counted(frames, "hit")}`}
          data-never={frames === 0}
          style={{ height: `${frames === 0 ? 0 : Math.max(15, 100 * Math.sqrt(frames / most))}%` }}
        />
      ))}
    </span>
  );
}

function barsOf(rules: readonly RuleHits[]): readonly Pick<RuleHits, "path" | "name" | "frames">[] {
  if (rules.length <= MAX_BARS) return rules;
  const each = Math.ceil(rules.length / MAX_BARS);
  return Array.from({ length: Math.ceil(rules.length / each) }, (_, i) => {
    const some = rules.slice(i * each, (i + 1) * each);
    const [{ path, name }] = some as [RuleHits];
    const frames = some.reduce((sum, rule) => sum + rule.frames, 0);
    return { path, name: `${name} and ${counted(some.length - 1, "rule")} after it`, frames };
  });
}

function open(): void {
  totalsOpen.value = true;
}
