/** What a page does with its time: for tests, and for bench.mjs. */

import assert from "node:assert/strict";

/**
 * CPU time of the tasks on the page's main thread while `action` lasts, in milliseconds: { longest, sum, until }. `until`
 * has the sum of those that began before a performance.mark() of the page's, by the mark's name.
 */
export async function mainThread(browser, page, action) {
    await browser.startTracing(page, { categories: ["toplevel", "blink.user_timing"] });
    await action();
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const main = traceEvents.find(
        ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain",
    );
    const tasks = traceEvents.filter(({ pid, tid, tdur }) => {
        return pid === main.pid && tid === main.tid && tdur !== undefined;
    });
    assert.ok(tasks.length > 10, `${tasks.length} tasks`);
    const outer = outermost(tasks);
    const marks = traceEvents.filter(
        ({ cat, pid }) => cat === "blink.user_timing" && pid === main.pid,
    );
    const before = ({ name, ts }) => [name, sumOf(outer.filter((task) => task.ts + task.dur < ts))];
    return {
        longest: Math.max(...outer.map(({ tdur }) => tdur / 1000)),
        sum: sumOf(outer),
        until: Object.fromEntries(marks.map(before)),
    };
}

function sumOf(tasks) {
    return tasks.reduce((sum, { tdur }) => sum + tdur / 1000, 0);
}

/** What is traced within another one is part of it. */
function outermost(tasks) {
    let end = -Infinity;
    const outer = [];
    for (const task of tasks.toSorted((one, other) => one.ts - other.ts)) {
        if (task.ts < end) continue;
        outer.push(task);
        end = task.ts + task.dur;
    }
    return outer;
}

/** The most that one of them takes. */
export async function longestTask(browser, page, action) {
    return (await mainThread(browser, page, action)).longest;
}

/** Words that are not all the same. */
export function words(count) {
    return Array.from({ length: count }, (_, i) => `word${(i * 7919) % 1000}`).join(" ");
}

/** Bytes that a page's responses take on their way, by address: a function that tells. */
export function countBytes(page) {
    const sizes = new Map();
    page.on("response", (response) => {
        const { "content-length": length } = response.headers();
        sizes.set(response.url(), Number(length ?? 0));
    });
    return () => [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
