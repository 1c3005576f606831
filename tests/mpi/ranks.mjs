// `attn run --mpi` under mpiexec: ranks that do the same, or each something of its own.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";

import { program } from "../cli/command.mjs";

const mpiexec = process.env.ATTN_MPIEXEC;

/** How many ranks tests take where the number does not matter. */
export const RANKS = Number(process.env.ATTN_MPI_RANKS ?? 2);

// What waits for a rank that does not come waits forever: that is a failure, not a result.
const LIMIT = { timeout: 1_200_000, killSignal: "SIGKILL" };

/** {status, stdout, stderr, lines} of mpiexec with these words; `lines` are our own. */
export function launch(words, folder) {
    const result = spawnSync(mpiexec, words, { cwd: folder, encoding: "utf8", ...LIMIT });
    assert.notEqual(result.error?.code, "ETIMEDOUT", "the ranks did not end");
    if (result.error) throw result.error;
    // mpiexec itself has a lot to say of ranks that failed.
    const lines = result.stderr.split("\n").filter((line) => line.startsWith("attn: "));
    return { ...result, lines };
}

/** All ranks of `attn run ARGS --mpi`. */
export function onRanks(ranks, args, folder) {
    return launch(["-n", `${ranks}`, program, "run", "--mpi", ...args], folder);
}

/** One rank each of these arguments; of {setup, args} behind a shell's `setup` (limits). */
export function onEach(calls, folder) {
    const words = calls.map(({ setup = "", args }) => [
        ...["-n", "1", "sh", "-c", `${setup}\nexec "$0" "$@"`, program, "run", "--mpi"],
        ...args,
    ]);
    return launch(
        words.flatMap((rank, i) => (i ? [":", ...rank] : rank)),
        folder,
    );
}

/** The exit status of all ranks, which are on their way meanwhile. */
export function begin(ranks, args, folder) {
    const words = ["-n", `${ranks}`, program, "run", "--mpi", ...args];
    const job = spawn(mpiexec, words, { cwd: folder, stdio: "ignore", ...LIMIT });
    return new Promise((resolve, reject) => {
        job.on("error", reject);
        job.on("exit", (status, signal) => resolve(status ?? signal));
    });
}

/** What `look` finds, as soon as that is something. */
export async function state(look) {
    const end = Date.now() + LIMIT.timeout;
    for (let found; Date.now() < end; await setTimeout(20)) if ((found = look())) return found;
    assert.fail("the state that the test waits for does not come");
}

export function assertDone({ status, stderr }) {
    assert.equal(status, 0, stderr);
}

/** Every rank ended, with one line from one of them. */
export function assertRefused({ status, lines, stderr }, says) {
    assert.notEqual(status, 0, stderr);
    assert.equal(lines.length, 1, stderr);
    assert.match(lines[0], says);
}
