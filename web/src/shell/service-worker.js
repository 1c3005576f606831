/*
 * All pages' files, kept when they are first seen and given from there ever after; models, of which few are
 * wanted, when they are asked for. The bundler puts FILES, MODELS and VERSION before this: a build with other
 * files is another version, which takes over at once. What a page that is open then has not asked for yet
 * comes from the network, while that has it. Models stay, as far as the new build has them, too.
 */
/* global FILES, MODELS, VERSION */

const modelCache = "libattn-models";

self.addEventListener("install", (event) => {
    self.skipWaiting();
    event.waitUntil(keepFiles());
});

self.addEventListener("activate", (event) => {
    event.waitUntil(Promise.all([self.clients.claim(), leaveVersions(), leaveModels()]));
});

self.addEventListener("fetch", (event) => {
    if (event.request.method === "GET") event.respondWith(answer(event.request));
});

async function keepFiles() {
    const cache = await caches.open(VERSION);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" }))); // of this build
}

async function leaveVersions() {
    const isOld = (name) => name.startsWith("libattn-") && ![VERSION, modelCache].includes(name);
    const names = await caches.keys();
    await Promise.all(names.filter(isOld).map((name) => caches.delete(name)));
}

async function leaveModels() {
    const cache = await caches.open(modelCache);
    const ours = MODELS.map((name) => new URL(name, self.location).href);
    const old = (await cache.keys()).filter(({ url }) => !ours.includes(url));
    await Promise.all(old.map((request) => cache.delete(request)));
}

function isModel({ url }) {
    return url.endsWith(".model");
}

/** A page is as new as the network has it; what it then asks for has its content in its name. */
async function answer(request) {
    const cacheName = isModel(request) ? modelCache : VERSION;
    const kept = () => caches.match(request, { cacheName, ignoreSearch: true });
    if (request.mode !== "navigate") return (await kept()) ?? load(request);
    return fetch(request).catch(async (error) => (await kept()) ?? Promise.reject(error));
}

async function load(request) {
    const response = await fetch(request);
    if (response.ok && isModel(request)) {
        const copy = response.clone();
        const kept = caches.open(modelCache).then((cache) => cache.put(request, copy));
        await kept.catch(() => undefined); // where there is no room it is loaded again the next time
    }
    return response;
}
