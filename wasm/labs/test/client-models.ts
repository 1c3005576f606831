/* A strict TypeScript program on libattn-labs/models; packed.test.mjs compiles it. */
import { init, AttnError } from "libattn";
import { embed as embedText, init as initData } from "libattn/data";
import { init as initLabs } from "libattn-labs";
import { init as initModels, loadModel, loadWriter, models, writers } from "libattn-labs/models";
import { init as initTraining } from "libattn-labs/training";
import type { Model, ModelAbout, ModelName, Solution } from "libattn-labs/models";
import type { Heads, Writer, WriterAbout, WriterName } from "libattn-labs/models";

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

const kinds: readonly WriterName[] = writers;
const writer: Writer = await loadWriter(kinds[0] ?? "softmax");
const { bits, size }: WriterAbout = writer.about;
const begun: string[] = writer.begin("Call me").tokens;
const { query: queries }: Heads = writer.heads();
for (const letters of writer.write("Call me", { tokens: 5, topP: 0.5 })) console.log(letters);
console.log(bits, size, begun, queries.length, writer.next({ temperature: 0 }).text);
writer.dispose();

// @ts-expect-error a question is a text
model.solve(3);
// @ts-expect-error what a model is of does not change
about.layers = 1;
// @ts-expect-error a seed is a number
writer.next({ seed: "1" });
// @ts-expect-error the package has no model of that name
await loadModel("a.model");

/* Modules that come with the program. */
const module: WebAssembly.Module = await WebAssembly.compile(new Uint8Array(8));
const { loadModel: load } = await initModels({ source: module });
const { embed }: { embed: typeof embedText } = await initData({ source: module });
const { createStudy } = await initTraining({ source: fetch("training.wasm") });
const { lab } = await initLabs();
// @ts-expect-error there are no builds
await initData({ build: "simd" });
console.log(load, embed, createStudy, lab);
