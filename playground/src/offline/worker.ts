/**
 * The service worker: the page works offline after its first visit.
 *
 * All files of one version are in one cache, so that a page never gets files of two versions. A new version is
 * cached beside the old one, and waits until the page asks for it or is closed.
 */

declare const self: ServiceWorkerGlobalScope;
/** The files of the page besides its document, relative to this one; and a hash of all contents. The build sets them. */
declare const FILES: readonly string[];
declare const VERSION: string;

/** What the page says to a version that waits. */
export const TAKE_OVER = "take over";

const { scope } = self.registration;
const OURS = `flowsteer ${scope} `;
const CACHE = OURS + VERSION;
/** By its path below the scope: the address in the cache. The document has that of the folder. */
const ADDRESSES = new Map([["", scope], ["index.html", scope], ...FILES.map((path) => [path, scope + path] as const)]);

self.addEventListener("install", (event) => {
  event.waitUntil(cacheAll());
});

self.addEventListener("activate", (event) => {
  event.waitUntil(removeOld().then(() => self.clients.claim()));
});

self.addEventListener("message", (event) => {
  if (event.data === TAKE_OVER) void self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const address = method === "GET" && url.startsWith(scope) ? ADDRESSES.get(pathOf(url)) : undefined;
  if (address !== undefined) event.respondWith(answer(address));
});

/** Files that the page has loaded come from the cache of the browser, which asks whether they are still the same. */
async function cacheAll(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([...new Set(ADDRESSES.values())].map((address) => new Request(address, { cache: "no-cache" })));
}

async function removeOld(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(OURS) && name !== CACHE).map((name) => caches.delete(name)));
}

async function answer(address: string): Promise<Response> {
  const cached = await (await caches.open(CACHE)).match(address);
  return cached ?? fetch(address);
}

/** The path below the scope. */
function pathOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).slice(scope.length);
}
