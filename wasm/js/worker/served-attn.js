/* What the worker of libattn/worker does for the calls of remote-attn.js. */
import { readArray } from "../problem/arrays.js";
import { checkLength, checkPositive, isPlain, isTensor } from "../problem/check.js";
import { attend } from "../calls/parts.js";
import { Plan } from "../calls/plan.js";
import { Plugin } from "../calls/plugin.js";
import { Stream } from "../calls/stream.js";
import { Tensor } from "../calls/tensor.js";

const pick = (object, ...names) => Object.fromEntries(names.map((name) => [name, object[name]]));

/* Calls that are not the object's own as they are. */
const CALLS = {
    __proto__: null,
    about: (attn) => ({
        ...pick(attn, "version", "build", "tier", "threads"),
        backends: attn.backends(),
    }),

    async attention(attn, args, watch) {
        const { result, byName } = await attend(attn, args, watch);
        return { ...sent(result, args), byName };
    },

    /** So often, and the time of one: beside messages it would be none. */
    run(plan, [given]) {
        const { repeats, ...options } = isPlain(given) ? given : {};
        const count = checkPositive(repeats ?? 1, "repeats");
        const arrays = isPlain(given) ? options : given;
        const start = performance.now();
        let result;
        for (let i = 0; i < count; i++) result = plan.run(arrays);
        const milliseconds = (performance.now() - start) / count;
        return { ...sent(result, [arrays]), milliseconds };
    },

    query: (stream, args) => sent(stream.query(...args), args),
    read: (tensor) => tensor.data.slice(),

    write(tensor, [given]) {
        const { array } = readArray(given, "elements", tensor.dtype);
        checkLength(array, "elements", { length: tensor.length, meaning: () => "the tensor" });
        tensor.data.set(isTensor(array) ? array.data : array);
    },
};

/** A result without what was written to tensors, which stays here. */
function sent(result, args) {
    const options = args.at(-1);
    const own = { ...result };
    for (const name of isPlain(options) ? Object.keys(own) : []) {
        const given = options[name];
        if (isTensor(given) || isTensor(given?.data)) own[name] = null;
    }
    return own;
}

const MADE = [
    [Plan, "backend", "sizes", "inputs", "kernel", "workspaceBytes", "cost", "facts"],
    [Stream, "backend", "sizes"],
    [Tensor, "dtype", "length", "shape"],
    [Plugin, "name", "backends"],
];

/** For serve(). */
export const served = {
    call(object, method, args, watch) {
        return CALLS[method] ? CALLS[method](object, args, watch) : object[method](...args);
    },

    tell(result) {
        const [, ...names] = MADE.find(([type]) => result instanceof type) ?? [];
        if (names.length === 0) return undefined;
        return { ...pick(result, ...names), ...served.stateOf(result) };
    },

    stateOf(object) {
        return object instanceof Stream ? pick(object, "length", "memoryBytes") : undefined;
    },
};
