/* A program that uses the types of libattn/view: packed.test.mjs compiles it. */
import { defineView, summarize, topKeys, AttnError, AttnView } from "libattn/view";
import type { ViewArrays, ViewWords } from "libattn/view";
import { init } from "libattn";
import { statistics, type Statistics } from "libattn/view/words";
import { init as initWorker } from "libattn/worker";

defineView();
defineView("my-attention");
const view: AttnView = document.createElement("attn-view");
Object.assign(view, { text: "the cat sat", backend: "sparse", causal: true });
view.params = { block: 2, pattern: "band", local: null };
view.scale = null;
const array = { data: new Float32Array(8), shape: [2, 4] };
const arrays: ViewArrays = { query: array, key: array, value: null, tokens: ["a", "b"] };
view.arrays = arrays;
const words: Partial<ViewWords> = { token: (token) => `„${token}“`, keys: "Pfeile." };
view.words = { ...words, weights: (backend, causal) => `${backend}${causal ? "!" : ""}` };
view.words = null;
// @ts-expect-error: shares are text
view.words = { diagonal: (share: number) => share.toFixed(2) };
view.addEventListener("update", function () {
    const { weights, problem } = this;
    if (problem !== null || weights === null) return;
    const { diagonal, column, largest } = summarize(weights, 2);
    const first: number | undefined = topKeys(weights.subarray(0, 2), 1)[0]?.key;
    console.log(diagonal, column?.part, largest?.weight, first);
});
view.addEventListener("click", ({ type }) => console.log(type, AttnError.name));
// @ts-expect-error: arrays say their shapes
view.arrays = { query: new Float32Array(8), key: array };

const x = new Float32Array(8);
const rows = { query: x, key: x, count: 1, top: 2 };
const here = (await init()).plan({ queries: 2, dim: 4 });
const there = await (await initWorker()).plan({ queries: 2, dim: 4 });
const found: Statistics[] = [await statistics(here, rows), await statistics(there, rows)];
console.log(found[0]?.entropy[0], found[1]?.topKeys.length);
// @ts-expect-error: there is no such option
await statistics(here, { query: x, key: x, tops: 2 });
