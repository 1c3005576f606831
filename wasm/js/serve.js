/* The worker's side of libattn/worker: makes the library, and computes one call after the other. */
import { split } from "./parts.js";

/** Answers the jobs that come with `post`; returns what is to be called with each job. */
export function serve(init, post) {
    let library;
    const work = {
        async init(options) {
            library = await init(null, options);
            const { version, build, tier, threads } = library;
            return { about: { version, build, tier, threads }, backends: library.backends() };
        },
        attention(...args) {
            const parts = split(...args);
            if (parts.length === 1) return library.attention(...args);
            let out;
            for (const [done, part] of parts.entries()) {
                const some = library.attention(...part.args);
                out ??= new some.constructor(some.length * parts.length);
                out.set(some, part.at);
                post({ progress: (done + 1) / parts.length });
            }
            return out;
        },
    };
    const answer = async ({ call, args }) => {
        try {
            const result = await work[call](...args);
            post({ result }, ArrayBuffer.isView(result) ? [result.buffer] : []);
        } catch ({ name, code, message }) {
            post({ error: { name, code, message } });
        }
    };
    let last = Promise.resolve(); // one at a time, because the first has to load the module
    return (job) => {
        last = last.then(() => answer(job));
    };
}
