/** The first sign that somebody uses the page: what needs it need not load before. */
const SIGNS = ["pointermove", "pointerdown", "touchstart", "wheel", "keydown", "focusin", "drop"] as const;

const used = new Promise<void>((resolve) => {
  const first = (event: Event): void => {
    // What a browser sends of a pointer that rests where the page appears.
    if (event instanceof PointerEvent && event.type === "pointermove" && !event.movementX && !event.movementY) return;
    for (const sign of SIGNS) removeEventListener(sign, first, true);
    resolve();
  };
  for (const sign of SIGNS) addEventListener(sign, first, { capture: true, passive: true });
});

/** Calls back at the first sign, or at once if there was one. */
export function onFirstUse(use: () => void): void {
  void used.then(use);
}
