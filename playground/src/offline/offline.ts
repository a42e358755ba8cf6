/** Makes the page work offline, and offers a new version when it is there. */
import { notify } from "../state/notices.js";

/** As in worker.ts, which runs elsewhere. */
const TAKE_OVER = "take over";

/** Registers the service worker, where the browser allows it: on https and on loopback. */
export async function startOffline(): Promise<void> {
  if (!isSecureContext || !("serviceWorker" in navigator)) return;
  const container = navigator.serviceWorker;
  // The first version takes pages over that were there before it: that is no change.
  const first = container.controller === null;
  let asked = false;
  container.addEventListener("controllerchange", () => {
    if (asked) location.reload();
    else if (!first) offer("A new version was opened in another tab.", () => location.reload());
  });
  try {
    const registration = await container.register("./sw.js", { updateViaCache: "none" });
    const offerWaiting = (): void => {
      const { waiting } = registration;
      if (waiting === null || container.controller === null) return;
      offer("A new version is ready.", () => {
        asked = true;
        waiting.postMessage(TAKE_OVER);
      });
    };
    const watch = (): void => {
      // In WebKit the first version can still count as waiting when it has taken the page over.
      if (registration.active !== null) registration.installing?.addEventListener("statechange", offerWaiting);
    };
    offerWaiting();
    // An update can have begun before this page asked.
    watch();
    registration.addEventListener("updatefound", watch);
  } catch {
    // The browser forbids it, or the network is gone: the page works without it.
  }
}

function offer(text: string, run: () => void): void {
  notify({ id: "version", text: `${text} What you edited is kept.`, actions: [{ title: "Reload", run }] });
}
