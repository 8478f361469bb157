// A service worker: keeps the files of the page, so that it opens without a network after one visit.
// The network comes first, so a page built anew is seen at once; what is kept answers only when nothing else does.

/* global FIRST, LATER, VERSION -- written in by the build: the files of a first visit, the others, and a name for this set of them */

const cache = `undercurve ${VERSION}`;

/** Keeps what is not kept yet. */
async function keep(files) {
  const kept = await caches.open(cache);
  const there = await Promise.all(files.map((file) => kept.match(file)));
  return kept.addAll(files.filter((_, at) => !there[at]));
}

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(keep(FIRST));
});

// The page says so when somebody does something on it: who only looks downloads no more than that takes.
addEventListener("message", (event) => event.waitUntil(keep(LATER)));

addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name.startsWith("undercurve ") && name !== cache) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(old());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  const kept = async (reason) => {
    const found = await caches.match(request.mode === "navigate" ? "./" : request, { ignoreSearch: true, ignoreVary: true });
    if (found) return found;
    throw reason;
  };
  event.respondWith(fetch(request).catch(kept));
});
