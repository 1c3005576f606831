/*
 * All pages' files, kept when they are first seen and given from there ever after; models, of which few are
 * wanted, when they are asked for. The bundler puts FILES and VERSION before this: a build with other files is
 * another version, which takes over at once, and pages that are open have all they need by then.
 */
/* global FILES, VERSION */

self.addEventListener("install", (event) => {
    self.skipWaiting();
    event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)));
});

self.addEventListener("activate", (event) => {
    event.waitUntil(
        Promise.all([
            self.clients.claim(),
            caches
                .keys()
                .then((names) =>
                    Promise.all(names.filter(isOld).map((name) => caches.delete(name))),
                ),
        ]),
    );
});

self.addEventListener("fetch", (event) => {
    if (event.request.method === "GET") event.respondWith(answer(event.request));
});

function isOld(name) {
    return name.startsWith("libattn-") && name !== VERSION;
}

/** A page is as new as the network has it; what it then asks for has its content in its name. */
async function answer(request) {
    const kept = () => caches.match(request, { cacheName: VERSION, ignoreSearch: true });
    if (request.mode !== "navigate") return (await kept()) ?? load(request);
    return fetch(request).catch(async (error) => (await kept()) ?? Promise.reject(error));
}

async function load(request) {
    const response = await fetch(request);
    if (response.ok && request.url.endsWith(".model")) {
        const copy = response.clone();
        const kept = caches.open(VERSION).then((cache) => cache.put(request, copy));
        await kept.catch(() => undefined); // where there is no room it is loaded again the next time
    }
    return response;
}
