/* A program that uses the types, and one that misuses them: packed.test.mjs compiles it. */
import {
    init,
    AttnError,
    type Attn,
    type Backend,
    type Param,
    type Plan,
    type RunResult,
} from "libattn";

const attn: Attn = await init();
declare const somewhere: { readonly href: string; readonly protocol: string };
const other: Attn = await init(somewhere, { build: "scalar" });
declare const bytes: Uint8Array;
await init(bytes);
await init(bytes.buffer);
await init("https://example.org/libattn.wasm");

const x = new Float32Array(64);
const options = {
    heads: 2,
    dim: 8,
    causal: "bottom-right",
    params: { block: 4, method: "ams" },
} as const;
const out: Float32Array = attn.attention(x, x, x, options);

using plan: Plan = attn.plan({ backend: "sparse", queries: 4, dim: 16, causal: true });
const result: RunResult = plan.run({ query: x, key: x, value: x, out, lse: true, layout: "bnhd" });
const rows: number = result.degenerateRows + (result.lse?.length ?? 0);
const weights: Float32Array = plan.weights({ query: x, key: x, head: 0, first: 1, count: 2 });
const error: number = plan.error({ query: x, key: x, value: x, out }, 10);
const flops: number = plan.cost?.flops ?? 0;
const facts: string = plan.facts.map(({ label, value }) => `${label} ${value ?? "none"}`).join();

/** What a form is made of. */
function describe(param: Param): string {
    switch (param.type) {
        case "integer":
        case "number":
            return `${param.min + param.default} of ${param.max} ${param.unit}`;
        case "boolean":
            return param.default ? "on" : "off";
        case "choice":
            return param.choices.join(param.default);
    }
}
const forms: string[] = attn.backends().flatMap((backend: Backend) => backend.params.map(describe));

const { tokens, dim }: { tokens: string[]; dim: number } = attn.embed("text", 8);
const { data, shape }: { data: Float32Array; shape: number[] } = attn.readNpy(bytes);
const code: "ATTN_ERROR_SHAPE" | string = new AttnError("ATTN_ERROR_SHAPE", "text").code;
export const all = [
    other.tier,
    rows,
    weights,
    error,
    flops,
    facts,
    forms,
    tokens,
    dim,
    data,
    shape,
    code,
];

// @ts-expect-error a number is no source
await init(5);
// @ts-expect-error no such build
await init(null, { build: "fast" });
// @ts-expect-error an array of doubles
attn.attention(new Float64Array(4), x, x, { dim: 8 });
// @ts-expect-error dim is missing
attn.plan({ queries: 4 });
// @ts-expect-error a misspelt option
attn.plan({ queries: 4, dim: 4, casual: true });
// @ts-expect-error no such layout
plan.run({ query: x, key: x, value: x, layout: "hnd" });
// @ts-expect-error sizes are fixed
plan.sizes.dim = 3;
// @ts-expect-error no such code
new AttnError("ATTN_ERROR_NONE", "text");
