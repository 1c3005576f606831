/*
 * The part of repetitions that there is time for, ATTN_TEST_SHARE, as in tests/support/test.h: where one Node
 * repeats what another has done whole.
 */
export const share = Number(process.env.ATTN_TEST_SHARE ?? 1);

export function shareOf(count) {
    return Math.ceil(count * share);
}
