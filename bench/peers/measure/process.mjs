// A contender's process, from the outside: see worker.h for what is said.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const PATIENCE = 300; // seconds until an answer

/** Those that live: stopped, as most are, they would outlive a run that is interrupted. */
const alive = new Set();
process.on("exit", () => {
    for (const child of alive) child.kill("SIGKILL");
});
for (const [signal, status] of [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
])
    process.on(signal, () => process.exit(status));

export class Contender {
    #child;
    #lines;
    #ended;

    /** `log`: a file descriptor for what it says on stderr. */
    constructor([program, ...args], env, log) {
        this.#child = spawn(program, args, {
            env: { ...process.env, ...env },
            stdio: ["pipe", "pipe", log],
        });
        alive.add(this.#child);
        this.#child.on("exit", () => alive.delete(this.#child));
        this.#child.stdin.on("error", () => {}); // it has died; its exit tells
        this.#ended = new Promise((resolve) => {
            this.#child.on("error", (error) => resolve(error.message));
            this.#child.on("exit", (code, signal) =>
                resolve(signal ? `ended by ${signal}` : `ended with status ${code}`),
            );
        });
        this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    }

    /** What it says after "ready", once it has computed its output. */
    async ready() {
        return this.#stopAfter(this.#answer("ready"));
    }

    /** Seconds of single calls, measured for about so many seconds. */
    async time(seconds) {
        this.#child.kill("SIGCONT");
        this.#child.stdin.write(`time ${seconds}\n`);
        return (await this.#stopAfter(this.#answer("times"))).split(" ").map(Number);
    }

    async end() {
        this.#child.kill("SIGCONT");
        this.#child.stdin.end();
        await Promise.race([this.#ended, later(2)]);
        this.#child.kill("SIGKILL");
    }

    /** Stopped until its next turn: threads that wait for work by spinning would take the others'. */
    async #stopAfter(answer) {
        const said = await answer;
        this.#child.kill("SIGSTOP");
        return said;
    }

    /** The rest of the next line that begins with this word; throws when there is none. */
    async #answer(word) {
        const limit = later(PATIENCE);
        for (;;) {
            const line = await Promise.race([this.#lines.next(), limit]);
            if (line === undefined) throw new Error(`no answer within ${PATIENCE} s`);
            if (line.done) throw new Error(await this.#ended);
            const [, first, rest] = /^(\S+) ?(.*)$/.exec(line.value) ?? [];
            if (first === word) return rest;
            if (first === "fail") throw new Error(rest);
        }
    }
}

/** Resolves after so many seconds, and keeps no process alive. */
export function later(seconds) {
    return new Promise((resolve) => setTimeout(resolve, 1000 * seconds).unref());
}
