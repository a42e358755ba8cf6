/** Focus never falls to the page: where the element that has it goes away, what is around it gets it. */

/** Begins. @returns ends it */
export function keepFocus(): () => void {
  /** The element that has the focus, and those around it that can have it, the innermost first. */
  let last: readonly Element[] = [];
  const onFocus = ({ target }: FocusEvent): void => {
    const around: Element[] = [];
    for (let one = target as Element | null; one !== null; one = one.parentElement)
      if (one === target || one.hasAttribute("tabindex")) around.push(one);
    last = around;
  };
  const onChange = (): void => {
    if (last[0]?.isConnected !== false || document.activeElement !== document.body) return;
    const next = last.find((one) => one.isConnected);
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(onChange);
  addEventListener("focusin", onFocus);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener("focusin", onFocus);
    observer.disconnect();
  };
}
