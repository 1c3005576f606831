/*
 * The library's interface where the library is in a worker: each object stands for one that is held there,
 * and each method is a call of that one's. Which arguments are right is said there.
 */
import { adviseBy } from "../problem/check.js";
import { READ } from "../problem/declared.js";
import { hints } from "../problem/hints.js";
import { compile, readInit } from "../engine/loader.js";
import { readPlugin } from "../engine/plugin-source.js";
import { Remote } from "./remote.js";
import { RemoteObject, ask, callOn } from "./remote-object.js";

adviseBy(hints);

const ROOT = 0;
const LONG = ["signal"];

class Tensor extends RemoteObject {
    constructor(remote, answer) {
        super(remote, "tensor", answer);
        Object.freeze(this);
    }

    async read() {
        return (await this[ask]("read", [])).value;
    }

    async write(elements) {
        await this[ask]("write", [elements], { names: ["elements"] });
    }
}

class Plan extends RemoteObject {
    #writes;

    constructor(remote, answer, writes) {
        super(remote, "plan", answer);
        this.#writes = () => writes(this.backend);
        Object.freeze(this);
    }

    async run(options) {
        return (await this[ask]("run", [options], { watch: LONG, writes: this.#writes })).value;
    }

    async weights(options) {
        return (await this[ask]("weights", [options], { watch: LONG })).value;
    }

    async error(options) {
        return (await this[ask]("error", [options], { watch: LONG })).value;
    }
}

class GradientsPlan extends Plan {
    async gradients(options) {
        return (await this[ask]("gradients", [options], { watch: LONG })).value;
    }
}

class Stream extends RemoteObject {
    #remote;
    #state;
    #writes;

    constructor(remote, { id, made }, writes) {
        const { length, memoryBytes, ...more } = made;
        super(remote, "stream", { id, made: more });
        this.#remote = remote;
        this.#state = { length, memoryBytes };
        this.#writes = writes;
        Object.freeze(this);
    }

    get length() {
        return this.#state.length;
    }

    get memoryBytes() {
        return this.#state.memoryBytes;
    }

    async append(...args) {
        await this.#ask("append", args, { names: READ.slice(1), watch: LONG });
        return this;
    }

    async query(...args) {
        const writes = () => this.#writes(this.backend);
        const how = { names: ["query"], watch: LONG, writes };
        return (await this.#ask("query", args, how)).value;
    }

    async fork() {
        return new Stream(this.#remote, await this.#ask("fork", []), this.#writes);
    }

    async truncate(length) {
        await this.#ask("truncate", [length]);
        return this;
    }

    async save() {
        return (await this.#ask("save", [])).value;
    }

    async restore(bytes) {
        await this.#ask("restore", [bytes]);
        return this;
    }

    async #ask(...args) {
        const answer = await this[ask](...args);
        this.#state = answer.state;
        return answer;
    }
}

/** Stays where nobody has it any more, as one that is loaded here. */
class Plugin {
    #unload;

    constructor({ made }, unload) {
        Object.assign(this, made);
        this.#unload = unload;
        Object.freeze(this);
    }

    async unload() {
        await this.#unload?.();
        this.#unload = null;
    }
}

/** Made by init() of libattn/worker. */
export class Attn {
    #remote;
    #backends;
    #readUrl;

    /** What calls with a backend write. */
    #writes = (backend) => {
        const { arrays } = this.#backends.find(({ id }) => id === backend) ?? this.#backends[0];
        return arrays.filter(({ role }) => role === "output").map(({ name }) => name);
    };

    /** `readUrl` gives the bytes behind a URL: what plugins are read with. */
    static async open(remote, readUrl) {
        const { backends, ...about } = (await remote.call(ROOT, "about")).value;
        const attn = Object.assign(new Attn(), about);
        attn.#remote = remote;
        attn.#backends = backends;
        attn.#readUrl = readUrl;
        return Object.freeze(attn);
    }

    backends() {
        this.#remote.check();
        return structuredClone(this.#backends);
    }

    async attention(...args) {
        const how = { names: READ, watch: [...LONG, "onProgress"], writes: this.#writes };
        const { byName, ...result } = (await this[ask]("attention", args, how)).value;
        return byName ? result : result.out;
    }

    async plan(options) {
        const answer = await this[ask]("plan", [options]);
        const Made = options.gradients ? GradientsPlan : Plan;
        return new Made(this.#remote, answer, this.#writes);
    }

    async gradients(...args) {
        const how = { names: [...READ, "outGradient"], watch: LONG };
        return (await this[ask]("gradients", args, how)).value;
    }

    async tensor(...args) {
        const answer = await this[ask]("tensor", args, { names: ["elements"] });
        return new Tensor(this.#remote, answer);
    }

    async stream(options) {
        return new Stream(this.#remote, await this[ask]("stream", [options]), this.#writes);
    }

    async countNonfinite(array) {
        return (await this[ask]("countNonfinite", [array], { names: ["array"] })).value;
    }

    async loadPlugin(source, options) {
        this.#remote.check();
        const [name, module] = await readPlugin(source, options, this.#readUrl);
        const answer = await this[ask]("loadPlugin", [module, { name }]);
        const loaded = { dispose: () => this.#remote.forget(loaded) }; // lost where the worker ends
        this.#remote.adopt(loaded);
        await this.#refresh();
        return new Plugin(answer, async () => {
            await this.#remote.call(answer.id, "unload");
            this.#remote.release(answer.id);
            this.#remote.forget(loaded);
            await this.#refresh();
        });
    }

    dispose() {
        this.#remote.dispose();
    }

    async #refresh() {
        this.#backends = (await this[ask]("backends", [])).value;
    }

    [ask](method, args, how) {
        return callOn(this.#remote, ROOT, method, args, how);
    }
}

if (Symbol.dispose) Attn.prototype[Symbol.dispose] = Attn.prototype.dispose;

/** init() on a platform: `start` as remote.js wants it, `readUrl` gives the bytes behind a URL. */
export function makeRemoteInit(start, readUrl) {
    return async function init(given) {
        const options = readInit(given, ["build", "threads"]);
        const { source } = options;
        if (source) options.source = await compile(await source, readUrl);
        const remote = new Remote(start, options);
        try {
            return await Attn.open(remote, readUrl);
        } catch (error) {
            remote.dispose();
            throw error;
        }
    };
}
