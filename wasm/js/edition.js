/*
 * Whether this is the whole library. build.mjs says false in the file of libattn/softmax for browsers,
 * which is to stay small: there is left out what softmax alone has no use for.
 */
export const FULL = true;
