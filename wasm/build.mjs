// usage: node build.mjs          (dist/libattn.simd.wasm must be built)

import { Package } from "./bundle.mjs";

const NODE = ["node", "worker-node", "served-node", "data-node", "native"];

await new Package({
    folder: new URL(".", import.meta.url),
    name: "libattn",
    sources: { node: "index", thread: "threads/thread", served: "worker/served" },
    node: ["node", "native"],
    /* What package.json exports, and the threads that these start by name. */
    bundles: [
        ["index"],
        ["thread"],
        ["thread-node"],
        ["softmax"],
        ["softmax-node"],
        ["worker"],
        ["served"],
        NODE,
        ["data"],
        ["inline"],
        ["native-web"],
        ["view"],
        ["view-words"],
    ],
    required: [
        NODE.filter((name) => name !== "served-node"), // which is a thread
        ...[["softmax-node"], ["inline"], ["view"], ["view-words"]],
    ],
    withFiles: ["index", "softmax", "worker", "data", "native-web", "view"],
    /* Entries of their own, which start what they start by its name beside them. */
    external: { view: /^\.\.?\/(worker|data|view-words)\.js$/ },
}).publish();
