/*
 * The arrays of a run: name, role, presence, element type, and its axes, of which those with "?" may be 1,
 * the same for all. Made of core/include/attn/arrays.h by ../../table.mjs; read by declared.js.
 */

/** Those of softmax alone. */
export const ROWS_OF_F32 = [
    "query input required query batch heads queries dim",
    "key input required key batch kvHeads keys dim",
    "value input required key batch kvHeads keys valueDim",
    "out output required query batch heads queries valueDim",
    "lse output optional f32 batch heads queries one",
    "bias input named f32 batch? heads? queries? keys",
    "mask input named bool batch? heads? queries? keys",
    "kvLengths input named i64 batch one one one",
    "sinks input named f32 one heads one one",
    "slopes input named f32 one heads one one",
];

/** In the order of their numbers. */
export const ROWS = [
    ...ROWS_OF_F32,
    "keyScales input int8 f32 batch kvHeads keys one",
    "valueScales input int8 f32 batch kvHeads keys one",
    "scores output optional f32 batch heads queries keys",
];
