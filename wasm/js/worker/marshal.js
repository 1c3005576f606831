/*
 * The arguments of a call on their way to a worker. Each value is read once, and arrays are copied, as
 * the call is made. What cannot be copied goes as a word for it, so that the library there says of it
 * what it says here: which arguments are right is known on that side alone.
 *
 * On the way a list, an object, and what has no copy are [kind, content]; all else is itself.
 */
import {
    checkApart,
    checkBytes,
    checkFunction,
    checkSignal,
    isPlain,
    isTensor,
    isTyped,
    plainView,
} from "../problem/check.js";
import { AttnError } from "../problem/errors.js";
import { isModule } from "../engine/loader.js";

const [LIST, OBJECT, HELD, ROOM, STRANGE] = [0, 1, 2, 3, 4];
const NONE = [];
const DEEPEST = 8;

export class Marshal {
    /** What is moved and not copied once more. */
    transfer = [];
    /** What the caller wants its results in, by name: { given, view }. */
    outputs = { __proto__: null };
    /** `signal` and `onProgress`, where the call has them. */
    watch = { __proto__: null };
    #idOf;
    #call;
    #copies = new Map();

    /**
     * `idOf(value, name)`: the id of what is held in the worker, undefined for other values. `how`, of the
     * call: `names` of arguments that are arrays; `watch`: options that stay here; `writes(backend)`: the
     * names of those that are to be written.
     */
    constructor(idOf, how) {
        this.#idOf = idOf;
        this.#call = { names: [], watch: [], writes: () => NONE, ...how };
    }

    all(args) {
        const { names } = this.#call;
        return args.map((value, i) =>
            isPlain(value) ? this.#options(value, names[i]) : this.#one(value, names[i]),
        );
    }

    #options(options, what) {
        const outputs = [];
        const entries = [];
        const values = Object.keys(options).map((name) => [name, options[name]]);
        const backend = values.find(([name]) => name === "backend")?.[1];
        const writes = this.#call.writes(backend ?? "softmax");
        for (const [name, value] of values) {
            if (this.#call.watch.includes(name)) this.watch[name] = checkWatch(value, name);
            else if (writes.includes(name)) outputs.push([name, value]);
            else entries.push([name, this.#one(value, name === "data" ? what : name)]);
        }
        const strides = entries.find(([name]) => name === "strides")?.[1];
        const placed = strides?.[0] === OBJECT ? strides[1].filter(([, list]) => list) : NONE;
        for (const [name, value] of outputs) {
            const gaps = placed.some(([other]) => other === name);
            entries.push([name, this.#output(value, name, gaps)]);
        }
        checkApart(Object.entries(this.outputs).flatMap(writtenBy));
        return [OBJECT, entries];
    }

    /** An array to write to: its elements count only where some of them stay. */
    #output(value, name, gaps) {
        if (isPlain(value) && Object.hasOwn(value, "data")) {
            const entries = Object.keys(value).map((key) => [
                key,
                key === "data" ? this.#output(value[key], name, gaps) : this.#one(value[key], name),
            ]);
            return [OBJECT, entries];
        }
        if (!isTyped(value)) {
            const marshalled = this.#one(value, name);
            if (marshalled?.[0] === HELD) this.outputs[name] = { given: value };
            return marshalled;
        }
        const view = plainView(value, name);
        this.outputs[name] = { given: value, view, gaps };
        return gaps ? this.#one(value, name) : [ROOM, [view[Symbol.toStringTag], view.length]];
    }

    #one(value, name, depth = 0) {
        if (typeof value === "function" || typeof value === "symbol")
            return [STRANGE, typeof value];
        if (value === null || typeof value !== "object") return value;
        if (isTensor(value)) throw foreign(name);
        const id = this.#idOf(value, name);
        if (id !== undefined) return [HELD, id];
        if (isTyped(value)) return this.#array(plainView(value, name), value);
        if (Array.isArray(value) || isPlain(value)) return this.#nested(value, name, depth + 1);
        return isModule(value) ? value : this.#bytes(value);
    }

    /** A list or an object; one that is in itself, or deeper than any call takes, has no copy. */
    #nested(value, name, depth) {
        if (depth > DEEPEST) return [STRANGE, "object"];
        if (Array.isArray(value)) return [LIST, this.#list(value, name, depth)];
        const entries = Object.keys(value).map((key) => {
            return [key, this.#one(value[key], key === "data" ? name : key, depth)];
        });
        return [OBJECT, entries];
    }

    /** Its elements up to a hole, which no call takes: behind it there may be 2^32. */
    #list(list, name, depth) {
        const elements = [];
        const { length } = list;
        for (let i = 0; i < length; i++) {
            elements.push(Object.hasOwn(list, i) ? this.#one(list[i], name, depth) : undefined);
            if (elements[i] === undefined) break;
        }
        return elements;
    }

    /** A copy, one for each array; memory that is shared is itself. */
    #array(view, value) {
        const { buffer } = view;
        if (Object.prototype.toString.call(buffer) === "[object SharedArrayBuffer]") return view;
        if (!this.#copies.has(value)) {
            const copy = view.slice();
            this.transfer.push(copy.buffer);
            this.#copies.set(value, copy);
        }
        return this.#copies.get(value);
    }

    /** Bytes that are no array stay so: what takes arrays refuses them. */
    #bytes(value) {
        try {
            const { buffer, byteOffset, byteLength } = this.#array(checkBytes(value, ""), value);
            return ArrayBuffer.isView(value)
                ? new DataView(buffer, byteOffset, byteLength)
                : buffer;
        } catch {
            return [STRANGE, "object"];
        }
    }
}

/* Of what is in a worker, and of elements with gaps between them, the library says it there. */
const writtenBy = ([name, { view, gaps }]) => (view && !gaps ? [[name, view]] : []);

export function foreign(name) {
    const why = "is a tensor, which is another instance's: pass its data";
    return new AttnError("ATTN_ERROR_ARGUMENT", `${name} ${why}`);
}

function checkWatch(value, name) {
    const given = value ?? undefined;
    return name === "signal" ? checkSignal(given) : checkFunction(given, name);
}

/** The value that was marshalled; `held(id)`: what the worker holds. */
export function unmarshal(value, held) {
    if (!Array.isArray(value)) return value;
    const [kind, content] = value;
    const inner = (one) => unmarshal(one, held);
    if (kind === LIST) return content.map(inner);
    if (kind === OBJECT) return Object.fromEntries(content.map(([key, one]) => [key, inner(one)]));
    if (kind === HELD) return held(content);
    if (kind === ROOM) return new globalThis[content[0]](content[1]);
    return { function: () => {}, symbol: Symbol(), object: new (class {})() }[content];
}
