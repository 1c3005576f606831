/* What stands here for something that is held in a worker, and calls of it with any arguments. */
import { store } from "../problem/errors.js";
import { Held } from "../calls/held.js";
import { Marshal, foreign } from "./marshal.js";

/* For the classes that extend RemoteObject. */
export const ask = Symbol("ask");

/** Calls a method of what has this id; `how` as for Marshal. The answer is Remote's. */
export async function callOn(remote, id, method, args, how) {
    const marshal = new Marshal((value, name) => RemoteObject.idOf(value, remote, name), how);
    const marshalled = marshal.all(args);
    const answer = await remote.call(id, method, marshalled, marshal.transfer, marshal.watch);
    deliver(answer.value, marshal.outputs);
    return answer;
}

/** Puts what a run computed in the arrays that were given for it. */
function deliver(result, outputs) {
    for (const name in outputs) {
        const { given, view } = outputs[name];
        if (view) store(result[name], view, name);
        result[name] = given;
    }
}

/** What a worker holds: it is held until dispose(), or until nobody refers to this any more. */
export class RemoteObject {
    #remote;
    #held;

    /** `answer` is that of the call which made it. */
    constructor(remote, what, { id, made }) {
        this.#remote = remote;
        this.#held = new Held(remote, this, what, id, (value) => remote.release(value));
        Object.assign(this, made);
    }

    /** The id of one, undefined for other values. */
    static idOf(value, remote, name) {
        if (!(#held in value)) return undefined;
        if (value.#remote === remote) return value.#held.value;
        throw foreign(name);
    }

    dispose() {
        this.#held.dispose();
    }

    async [ask](method, args, how) {
        return callOn(this.#remote, this.#held.value, method, args, how);
    }
}

if (Symbol.dispose) RemoteObject.prototype[Symbol.dispose] = RemoteObject.prototype.dispose;
