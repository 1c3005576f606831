// usage: node build.mjs          (dist/libattn.labs.wasm and its like must be built)

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Package } from "../bundle.mjs";

const NODE = ["labs-node", "labs-worker-node", "models-node", "training-node"];
const MODELS = fileURLToPath(new URL("../../bench/labs/models/", import.meta.url));

await new Package({
    folder: new URL(".", import.meta.url),
    name: "libattn-labs",
    sources: { "labs-worker": "lab/labs-worker" },
    bundles: [["labs"], ["labs-worker"], NODE, ["models"], ["training"]],
    required: [NODE.filter((name) => name !== "labs-worker-node")], // which is a thread
    withFiles: ["labs", "models", "training"],
    files: readdirSync(MODELS)
        .filter((name) => name.endsWith(".model"))
        .map((name) => `${MODELS}${name}`),
}).publish();
