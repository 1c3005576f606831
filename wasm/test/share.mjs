import { appendFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The part of repetitions that there is time for, ATTN_TEST_SHARE, as in tests/support/test.h: where one Node
 * repeats what another has done whole.
 */
export const share = Number(process.env.ATTN_TEST_SHARE ?? 1);

export function shareOf(count) {
    return Math.ceil(count * share);
}

/**
 * That part of a list, evenly from all of it. What is left out is listed in a file of the folder that ATTN_LEFT_OUT
 * names, if it names one. `what` they are.
 */
export function someOf(what, list) {
    const all = [...list];
    const count = shareOf(all.length);
    if (count === all.length) return all;
    const some = Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]);
    const folder = process.env.ATTN_LEFT_OUT;
    if (folder) {
        const line = `${all.length - count} of ${all.length} ${what}\n`;
        appendFileSync(join(folder, String(process.pid)), line);
    }
    return some;
}
