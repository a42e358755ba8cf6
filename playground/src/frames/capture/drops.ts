/** Files that are dropped on the page or pasted into it. */
import { signal } from "@preact/signals";
import { openDropped } from "../../state/capture.js";

/** Whether files are held over the page. */
export const holding = signal(false);

/** Begins. @returns ends it */
export function startDrops(): () => void {
  const ending = new AbortController();
  const listen = <K extends keyof DocumentEventMap>(name: K, listener: (event: DocumentEventMap[K]) => void): void =>
    document.addEventListener(name, listener, { signal: ending.signal });
  listen("dragover", (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    holding.value = true;
  });
  listen("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) holding.value = false;
  });
  listen("drop", (event) => {
    holding.value = false;
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    void openDropped([...(event.dataTransfer?.files ?? [])]);
  });
  listen("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void openDropped(files);
  });
  return () => ending.abort();
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") === true;
}
