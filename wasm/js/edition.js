/*
 * Whether this is the whole library. build.mjs says false in the files of libattn/softmax, which
 * are to stay small: there is left out what softmax alone has no use for.
 */
export const FULL = true;
