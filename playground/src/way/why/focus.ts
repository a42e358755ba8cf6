/** The focus stays in the answer when the button that had it goes away with the answer of before. */
import { effect, signal } from "@preact/signals";
import { way } from "../../state/selection.js";

/** The element of the answer. */
export const answerElement = signal<HTMLElement | null>(null);

/** Keeps it over the next answer. */
export function keepFocus(): void {
  const before = way.peek();
  const end = effect(() => {
    if (way.value === before) return;
    queueMicrotask(() => end());
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) answerElement.peek()?.focus({ preventScroll: true });
    });
  });
}
