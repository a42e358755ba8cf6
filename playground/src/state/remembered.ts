/** Small choices that the browser keeps for this page. Without storage the page forgets them. */

const PREFIX = "flowsteer.";

/** `tab` keeps a value over reloads of this tab alone. */
export type Where = "browser" | "tab";

export function recall(key: string, where: Where = "browser"): string | null {
  try {
    return storage(where).getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** Keeps a choice; null forgets it. */
export function remember(key: string, value: string | null, where: Where = "browser"): void {
  try {
    if (value === null) storage(where).removeItem(PREFIX + key);
    else storage(where).setItem(PREFIX + key, value);
  } catch {
    // Private windows may forbid it, and storage may be full.
  }
}

function storage(where: Where): Storage {
  return where === "tab" ? sessionStorage : localStorage;
}
