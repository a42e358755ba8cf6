/** The menu of what frames can be filtered by: fields, bytes, rules. Their elements have the attribute `data-filters`. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ContextMenu, type MenuPlace } from "../../parts/contextMenu.js";
import { condition } from "../../state/condition.js";
import { conditionCommands } from "./apply.js";

const place = signal<MenuPlace | null>(null);

/** The condition of the attribute; an empty one is that of the element when it is selected. */
function onContextMenu(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target : null;
  const filters = target?.closest("[data-filters]");
  const text = filters?.getAttribute("data-filters") ?? null;
  if (target === null || text === null) return;
  if (text !== "") condition.value = text;
  // Among bytes that are selected, they all are meant.
  else if (target.closest("[data-lit]") === null) target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  if (condition.peek() === null) return;
  event.preventDefault();
  const box = target.getBoundingClientRect();
  // The key for menus has no place.
  place.value =
    event.clientX === 0 && event.clientY === 0
      ? { x: box.left, y: box.bottom }
      : { x: event.clientX, y: event.clientY };
}

export function ConditionMenu(): JSX.Element | null {
  useEffect(() => {
    document.addEventListener("contextmenu", onContextMenu);
    return () => document.removeEventListener("contextmenu", onContextMenu);
  }, []);
  const at = place.value;
  if (at === null) return null;
  const items = conditionCommands.map((command) => ({ ...command, disabled: false }));
  return (
    <ContextMenu
      label={condition.value ?? "Filter"}
      place={at}
      items={items}
      onClose={() => void (place.value = null)}
    />
  );
}
