// Timing of single calls, in Node and in a page.

const TOGETHER = 1; // milliseconds

/**
 * Calls for so many seconds: a tenth of them, and one call at least, to warm up. Of short calls as many are
 * timed together as take a millisecond. In seconds.
 */
export async function timeCalls(run, seconds) {
    const start = performance.now();
    const past = (share) => performance.now() - start > 1000 * share * seconds;
    let warm = 0;
    do {
        await run();
        warm++;
    } while (!past(0.1));
    const count = 1 + Math.floor((warm * TOGETHER) / (performance.now() - start));
    const times = [];
    do {
        const begin = performance.now();
        for (let i = 0; i < count; i++) await run();
        times.push((performance.now() - begin) / 1000 / count);
    } while (!past(1));
    return times;
}
