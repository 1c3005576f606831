// Timing of single calls, in Node and in a page.

/** Calls for so many seconds: a tenth of them, and one call at least, to warm up. In seconds. */
export async function timeCalls(run, seconds) {
    const start = performance.now();
    const past = (share) => performance.now() - start > 1000 * share * seconds;
    do await run();
    while (!past(0.1));
    const times = [];
    do {
        const begin = performance.now();
        await run();
        times.push((performance.now() - begin) / 1000);
    } while (!past(1));
    return times;
}
