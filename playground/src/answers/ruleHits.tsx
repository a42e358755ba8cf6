/** The rules with their hits, as a table that can be sorted. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Totals } from "../engine/api.js";
import { bytesText, countText, shareText } from "../parts/format.js";
import { filter, selectedPath } from "../state/selection.js";
import { isFiltered, toggleFilter } from "./filtering.js";
import { Limited } from "./limited.js";

type RuleSum = Totals["rules"][number];
/** The width of the bar of a rule that every frame hit. */
const BAR = 3;

type Order = "order" | "name" | "hits";

interface RankedRule extends RuleSum {
  /** The place in the document, from 1. */
  readonly place: number;
}

export function RuleHits({ totals }: { readonly totals: Totals }): JSX.Element | null {
  const [order, setOrder] = useState<Order>("order");
  const [onlyNever, setOnlyNever] = useState(false);
  const { rules } = totals;
  if (rules.length === 0) return null;
  const never = rules.filter(({ frames }) => frames === 0).length;
  const shown = sorted(rules, order).filter(({ frames }) => !onlyNever || frames === 0);
  return (
    <section class="rule-hits" aria-labelledby="totals-rules">
      <h3 id="totals-rules">Hits by rule</h3>
      {never > 0 && (
        <label class="check">
          <input type="checkbox" checked={onlyNever} onChange={(event) => setOnlyNever(event.currentTarget.checked)} />
          {`Only rules that these frames never hit (${countText(never)})`}
        </label>
      )}
      <Limited
        items={shown}
        noun="rule"
        list={(some) => (
          <table aria-labelledby="totals-rules">
            <thead>
              <tr>
                <SortHeader title="#" label="Order" by="order" order={order} set={setOrder} number />
                <SortHeader title="Rule" by="name" order={order} set={setOrder} />
                <SortHeader title="Hits" by="hits" order={order} set={setOrder} number />
                <th scope="col" class="number">
                  Share
                </th>
                <th scope="col" class="number">
                  Bytes
                </th>
              </tr>
            </thead>
            <tbody>
              {some.map((rule) => (
                <RuleRow key={rule.path} rule={rule} whole={totals.frames} />
              ))}
            </tbody>
          </table>
        )}
      />
    </section>
  );
}

function RuleRow({ rule, whole }: { readonly rule: RankedRule; readonly whole: number }): JSX.Element {
  const { name, path, place, frames, bytes } = rule;
  return (
    <tr aria-selected={selectedPath.value === path} data-never={frames === 0}>
      <td class="number muted">{place}</td>
      <th scope="row">
        <button
          type="button"
          class="quiet"
          aria-pressed={selectedPath.value === path}
          title={frames > 0 ? "Select the rule, and show only its frames" : "Select the rule"}
          onClick={() => select(rule)}
        >
          {name}
        </button>
      </th>
      {frames > 0 ? (
        <>
          <td class="number">{countText(frames)}</td>
          <td class="number">
            <span class="share-bar">
              <span aria-hidden="true" style={{ width: `${Math.min(BAR, (BAR * frames) / whole)}em` }} />
              {shareText(frames, whole)}
            </span>
          </td>
          <td class="number">{bytesText(bytes)}</td>
        </>
      ) : (
        <td colSpan={3} class="never-mark">
          <span aria-hidden="true">○</span> never hit by these frames
        </td>
      )}
    </tr>
  );
}

/** A rule that is selected shows its frames; one that no frame hit leaves the list as it is. */
function select({ name, path, frames }: RankedRule): void {
  const part = { rule: name };
  if (selectedPath.peek() === path && isFiltered(part)) {
    selectedPath.value = null;
    toggleFilter(part);
    return;
  }
  selectedPath.value = path;
  if (frames > 0 && filter.peek().rule !== name) toggleFilter(part);
}

interface SortHeaderProps {
  readonly title: string;
  readonly label?: string;
  readonly by: Order;
  readonly order: Order;
  readonly set: (order: Order) => void;
  readonly number?: boolean;
}

function SortHeader({ title, label = title, by, order, set, number = false }: SortHeaderProps): JSX.Element {
  const direction = by === "hits" ? "descending" : "ascending";
  return (
    <th scope="col" class={number ? "number" : undefined} aria-sort={order === by ? direction : "none"}>
      <button type="button" class="quiet" aria-label={`Sort by ${label.toLowerCase()}`} onClick={() => set(by)}>
        {title} <span aria-hidden="true">{order === by ? (by === "hits" ? "▾" : "▴") : ""}</span>
      </button>
    </th>
  );
}

function sorted(rules: readonly RuleSum[], order: Order): readonly RankedRule[] {
  const ranked = rules.map((rule, i): RankedRule => ({ ...rule, place: i + 1 }));
  if (order === "hits") return ranked.sort((a, b) => b.frames - a.frames);
  return order === "name" ? ranked.sort((a, b) => a.name.localeCompare(b.name, "en")) : ranked;
}
