/* The protocol of remote.js from the worker's side: it makes the root, and answers one call after the other. */
import { AttnError } from "../problem/errors.js";
import { unmarshal } from "./marshal.js";

const nothing = () => undefined;

/**
 * Returns what is to be called with each message; answers go by `post(message, transfer)`. The root is what
 * `open(options)` promises. `call(object, method, args, watch)` is what a call does, by default the
 * object's method: `watch`, where the call is watched, is to be awaited with the part that is done.
 * `tell(result)`: what the program is told of a result that stays here, undefined for all others, and
 * `stateOf(object)` what may have changed of the target.
 */
export function serve(open, post, { call = plainCall, tell = nothing, stateOf = nothing } = {}) {
    const held = new Map();
    let opened;
    let cancelled;

    const find = (id) => {
        if (held.has(id)) return held.get(id);
        throw new AttnError("ATTN_ERROR_DISPOSED", "it has ended with its worker");
    };

    const watch = (id) => async (done) => {
        post(["progress", id, done]);
        await turn();
        if (cancelled === id) throw new Error("nobody waits for it");
    };

    async function answer(id, target, method, args, watched) {
        let failure = "unstarted";
        try {
            const root = await opened;
            failure = "error";
            const object = target === 0 ? root : find(target);
            const given = args.map((value) => unmarshal(value, find));
            const result = await call(object, method, given, watched ? watch(id) : null);
            const made = result === object ? undefined : tell(result);
            if (made) held.set(id, result);
            const value = made || result === object ? undefined : result;
            post(["result", id, value, made, stateOf(object)], buffersOf(value));
        } catch ({ name, code, message }) {
            post([failure, id, { name, code, message }]);
        }
    }

    function release(id) {
        const object = held.get(id);
        held.delete(id);
        try {
            object?.dispose?.();
        } catch {
            return; // a plugin's code trapped, and nobody waits for it
        }
    }

    let last = Promise.resolve(); // one at a time, because the first has to load the module
    return ([kind, what, ...call]) => {
        if (kind === "open") {
            opened = open(what);
            opened.catch(nothing); // each call says it
        } else if (kind === "cancel") cancelled = what;
        else last = last.then(() => (kind === "call" ? answer(what, ...call) : release(what)));
    };
}

function plainCall(object, method, args) {
    return object[method](...args);
}

/** Of a result that is an array or has some: they are moved, but for shared memory, which has no owner. */
function buffersOf(value) {
    const all = ArrayBuffer.isView(value) ? [value] : Object.values(value ?? {});
    const buffers = all.filter((one) => ArrayBuffer.isView(one)).map(({ buffer }) => buffer);
    return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

/**
 * Lets the messages that have arrived be read first: timers are too slow for that. By a channel of its own,
 * because Node reads the next message of a channel before those of others.
 */
function turn() {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
        port1.onmessage = () => {
            port1.close();
            resolve();
        };
        port2.postMessage(null);
    });
}
