/** Runs in the page before its own code: keeps its faults, and finds elements, in shadow roots too. */
/* global PerformanceObserver, addEventListener, document, location */
globalThis.probe = {
  faults: [],
  all(selector, root = document) {
    const found = [...root.querySelectorAll(selector)];
    for (const element of root.querySelectorAll("*"))
      if (element.shadowRoot !== null) found.push(...this.all(selector, element.shadowRoot));
    return found;
  },
  /** The first that is shown and whose text or label begins with this. */
  find(selector, text = null) {
    return this.all(selector).find(
      (element) =>
        element.getClientRects().length > 0 &&
        (text === null || (element.getAttribute("aria-label") ?? element.textContent).trim().startsWith(text)),
    );
  },
  text(selector) {
    return this.all(selector)
      .map((element) => element.textContent)
      .join("\n");
  },
  /** Of the element, in pixels of the window; null while there is none. */
  middle(selector, text) {
    const element = this.find(selector, text);
    if (element === undefined) return null;
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
  },
};
const keep = (text) => void globalThis.probe.faults.push(text);
addEventListener("error", ({ message, target }) => keep(message ?? `${target.src ?? target.href} is not loaded`), true);
addEventListener("unhandledrejection", ({ reason }) => keep(`unhandled: ${reason}`));
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
  keep(`policy: ${violatedDirective} ${blockedURI} at ${sourceFile}:${lineNumber}`),
);
const { error } = console;
console.error = (...parts) => {
  keep(`console: ${parts.join(" ")}`);
  error(...parts);
};
new PerformanceObserver((list) => {
  for (const { name } of list.getEntries())
    if (!name.startsWith(location.origin) && !/^(blob|data):/.test(name)) keep(`request to ${name}`);
}).observe({ type: "resource", buffered: true });
