/* The worker's side of libattn/worker: makes the library, and computes one call after the other. */
import { Whole, split } from "./parts.js";

/**
 * Answers the jobs [options, call, argument] that come with `post`; returns what is to be called with
 * each job. The first makes the library, with the options. Answers are [kind, value]: "progress", and
 * then "result", "error" or, where there is no library, "unstarted".
 */
export function serve(init, post) {
    let library;
    const work = {
        about() {
            const { version, build, tier, threads } = library;
            return { about: { version, build, tier, threads }, backends: library.backends() };
        },
        attention(call) {
            const parts = split(call);
            if (parts.length === 1) return library.attention(call);
            const whole = new Whole(parts.length);
            for (const part of parts) post(["progress", whole.add(library.attention(part))]);
            return whole.result;
        },
    };
    const answer = async ([options, call, argument]) => {
        let failure = "unstarted";
        try {
            library ??= await init(options);
            failure = "error";
            const result = work[call](argument);
            post(
                ["result", result],
                arraysOf(result).map(({ buffer }) => buffer),
            );
        } catch ({ name, code, message }) {
            post([failure, { name, code, message }]);
        }
    };
    let last = Promise.resolve(); // one at a time, because the first has to load the module
    return (job) => {
        last = last.then(() => answer(job));
    };
}

function arraysOf(result) {
    return Object.values(result).filter((value) => ArrayBuffer.isView(value));
}
