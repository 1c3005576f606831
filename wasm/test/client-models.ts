/* A strict TypeScript program on libattn/models; packed.test.mjs compiles it. */
import { init, AttnError } from "libattn";
import { loadModel, models } from "libattn/models";
import type { Model, ModelAbout, ModelName, Solution } from "libattn/models";

const model: Model = await loadModel(new Uint8Array(8));
const about: ModelAbout = model.about;
const { tokens, right, query, key, value, shape }: Solution = model.solve("3 + 4 * 2");
const attn = await init();
const heads = [query, key, value].map((data) => ({ data, shape }));
console.log(heads.length, attn.attention({ data: query, shape }, key, value, { causal: true }));
const text: string = right ? tokens.join(" ") : (about.command satisfies string);
console.log(text, about.modulus ?? 0, AttnError.name);
model.dispose();
const names: readonly ModelName[] = models;
(await loadModel(names[0] ?? "lis-softmax")).dispose();

// @ts-expect-error a question is a text
model.solve(3);
// @ts-expect-error what a model is of does not change
about.layers = 1;
// @ts-expect-error the package has no model of that name
await loadModel("a.model");
