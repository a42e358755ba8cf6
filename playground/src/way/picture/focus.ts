/** The keyboard in the picture: it is one stop of the Tab key; arrows move inside. */
import { signal } from "@preact/signals";
import { graph } from "../view.js";

/** The part that Tab goes to. */
const current = signal<string | null>(null);

export function tabIndexOf(key: string): 0 | -1 {
  const nodes = graph.value?.nodes ?? [];
  const first = nodes.find(({ path, rows }) => path !== null || rows.length > 1);
  const fallback = first === undefined ? null : first.path === null ? `${first.id} ${first.rows[0]?.key}` : first.id;
  return key === (current.value ?? fallback) ? 0 : -1;
}

export function onPress(
  key: string,
  run: () => void,
): { onClick: () => void; onFocus: () => void; onKeyDown: (event: KeyboardEvent) => void } {
  return {
    onClick: run,
    onFocus: () => void (current.value = key),
    onKeyDown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      run();
    },
  };
}

/** Up and down go through a node and on to the next; left and right go to the nearest part in that direction. */
export function moveFocus(event: KeyboardEvent & { readonly currentTarget: SVGSVGElement }): void {
  const parts = [...event.currentTarget.querySelectorAll<SVGGElement>("[data-focus-key]")];
  const at = parts.findIndex((one) => one === document.activeElement);
  if (at < 0) return;
  const next =
    event.key === "ArrowDown"
      ? parts[at + 1]
      : event.key === "ArrowUp"
        ? parts[at - 1]
        : event.key === "ArrowRight" || event.key === "ArrowLeft"
          ? beside(parts, parts[at] as SVGGElement, event.key === "ArrowRight" ? 1 : -1)
          : undefined;
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function beside(parts: readonly SVGGElement[], from: SVGGElement, way: 1 | -1): SVGGElement | undefined {
  const start = from.getBoundingClientRect();
  let best: { readonly part: SVGGElement; readonly far: number } | undefined;
  for (const part of parts) {
    const box = part.getBoundingClientRect();
    const dx = way * (box.x - start.x);
    if (dx < 8) continue;
    const far = dx + 2 * Math.abs(box.y - start.y);
    if (best === undefined || far < best.far) best = { part, far };
  }
  return best?.part;
}
