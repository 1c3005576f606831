/* What an option that a call does not have may have been meant to be, or which call has it. */
import { ARRAYS, OVER_KEYS, inputsOf, namesOf } from "./declared.js";

/* What others call our options, in small letters without underscores. */
const ALIASES = {
    __proto__: null,
    q: "query",
    k: "key",
    v: "value",
    n: "queries",
    m: "keys",
    d: "dim",
    dv: "valueDim",
    headdim: "dim",
    numheads: "heads",
    nheads: "heads",
    numkvheads: "kvHeads",
    nheadskv: "kvHeads",
    batchsize: "batch",
    iscausal: "causal",
    attnmask: "mask",
    attentionmask: "mask",
    attnbias: "bias",
    softmaxscale: "scale",
    logitssoftcap: "softcap",
    windowsize: "window",
    slidingwindow: "window",
    kvlens: "kvLengths",
    alibi: "slopes",
    alibislopes: "slopes",
    returnlse: "lse",
    output: "out",
};

const PROBLEM = [
    ...["batch", "heads", "kvHeads", "queries", "keys", "dim", "valueDim"],
    ...["causal", "scale", "past", "window", "softcap", "dtype", "kvDtype", "backend", "params"],
];
const RUNS = ["run", "runAsync", "weights", "error", "gradients"];
const STREAMS = ["append", "query"];

/** For adviseBy() of check.js. */
export const hints = { aliasOf: (plain) => ALIASES[plain], homeOf };

/** "mask is an option of run(); ": which call has it; undefined where none has. */
function homeOf(name, call) {
    const isArray = namesOf(ARRAYS).includes(name);
    const isOfProblem = PROBLEM.includes(name);
    if (["threads", "build", "source"].includes(name)) return `${name} is an option of init(); `;
    if (call === "attention" && (isArray || name === "scoresMode"))
        return `attention({ query, key, value, ${name} }), with all in one object, takes ${name}; `;
    if (["stream", ...STREAMS].includes(call) && OVER_KEYS.includes(name))
        return `streams take no ${name}; `;
    if (["plan", "stream"].includes(call) && inputsOf(ARRAYS).includes(name))
        return `say inputs: ["${name}"], and pass ${name} to ${call === "plan" ? "run()" : "query()"}; `;
    if (call === "plan" && (isArray || ["layout", "strides", "signal"].includes(name)))
        return `${name} is an option of run(); `;
    if (RUNS.includes(call) && isOfProblem) return `${name} is an option of plan(); `;
    if (call === "stream" && ["queries", "keys", "past"].includes(name))
        return "a stream counts its tokens itself, maxKeys at most; ";
    if (call === "query" && ["key", "value"].includes(name))
        return `${name} is an option of append(); `;
    if (call === "query" && name === "lse")
        return "query() returns lse of all backends that have it; ";
    if (STREAMS.includes(call) && isOfProblem) return `${name} is an option of stream(); `;
    if (name === "signal") return "signal is an option of attentionAsync() and runAsync(); ";
    if (["attention", "plan", "stream"].includes(call))
        return "parameters of a backend go into params: { name: value }; ";
    return undefined;
}
