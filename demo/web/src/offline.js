// A service worker: keeps the files of the page, so that it opens without a network after one visit.
// The network comes first, so a page built anew is seen at once; what is kept answers only when nothing else does.

/* global FIRST, PAGE, LATER, VERSION -- written in by the build: the files of a first visit, those of the page behind the first picture, the others, and a name for this set of them */

const cache = `undercurve ${VERSION}`;

/** Those of the files that are not kept yet. */
async function missing(kept, files) {
  const there = await Promise.all(files.map((file) => kept.match(file)));
  return files.filter((_, at) => !there[at]);
}

addEventListener("install", (event) => {
  skipWaiting();
  const first = async () => {
    const kept = await caches.open(cache);
    await kept.addAll(await missing(kept, FIRST));
  };
  event.waitUntil(first());
});

// The page says so when it is open ("page"), and when somebody does something on it ("later"): who only looks downloads no more than that takes.
// Each file by itself, and once more where one did not come; what is left then is for the next time.
addEventListener("message", (event) => {
  const later = async () => {
    const kept = await caches.open(cache);
    const files = event.data === "page" ? PAGE : [...PAGE, ...LATER];
    for (let turn = 0; turn < 2; turn += 1) await Promise.allSettled((await missing(kept, files)).map((file) => kept.add(file)));
  };
  event.waitUntil(later());
});

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
