/* The arrays of a call: their types, and where their elements are. */

/** The order of the axes in memory: (batch, head, row, column) or (batch, row, head, column). */
export type Layout = "bhnd" | "bnhd";

/**
 * Where element (b, h, i, c) of an array is: at b*s[0] + h*s[1] + i*s[2] + c*s[3]. Integers of at least
 * 0; 0 is the same for all (of inputs). The array may be longer than that reaches.
 */
export type Stride = readonly [batch: number, head: number, row: number, column: number];

/**
 * The strides of arrays that are not as the layout says. `out` needs an array to write to, and strides
 * that nest: each steps over all that the smaller ones reach, so that no two elements are one.
 */
export interface Strides {
    query?: Stride | undefined;
    key?: Stride | undefined;
    value?: Stride | undefined;
    out?: Stride | undefined;
}

/** An element type of 16 bits: IEEE 754 binary16, or the upper half of a float32. */
export type HalfDtype = "f16" | "bf16";

/**
 * How numbers are stored: all is computed in f32. f16 is a Uint16Array of its bits, or a Float16Array
 * where there is one; bf16 a Uint16Array of its bits; i8 an Int8Array with a scale for each token.
 */
export type Dtype = "f32" | HalfDtype | "i8";

/** A Float16Array, which not every program has the type of. */
export interface Float16ArrayLike extends ArrayBufferView {
    readonly [Symbol.toStringTag]: "Float16Array";
    readonly BYTES_PER_ELEMENT: number;
    readonly length: number;
    [index: number]: number;
}

/** Elements of 16 bits. */
export type HalfArray = Uint16Array | Float16ArrayLike;

/** The same, that are read or written. */
export type Halves = HalfArray | Tensor<HalfArray>;

/** The arrays that a {@link Dtype} is in. */
export type Elements = Floats | Halves | Int8Array | Tensor<Int8Array>;

/**
 * Elements in the module's memory, which runs read and write in place: for keys and values that stay,
 * and for outputs that are used in place. Made by {@link Attn.tensor}, takes memory until disposed.
 */
export interface Tensor<Data = Float32Array> {
    readonly dtype: Dtype;
    readonly length: number;
    /**
     * They as an array. Get it anew for each use: an array that was got earlier is detached (its
     * length is 0) once the module's memory has grown. The calls that it is given to may themselves
     * make it grow; a result in such an array is then returned as a new view. Natively it is shared
     * memory.
     */
    readonly data: Data;
    dispose(): void;
    [Symbol.dispose](): void;
}

/** Floats that are read or written; results that go to a Tensor are given as its `data`. */
export type Floats = Float32Array | Tensor;

/** The name of an array that runs bring beside query, key and value: see {@link InputArrays}. */
export type InputName = "bias" | "mask" | "kvLengths" | "sinks" | "slopes";

/** An array in the order (batch, head, query, key); of the first three axes, 1 is the same for all. */
export interface Grid<Data> {
    data: Data;
    shape: readonly [batch: number, heads: number, queries: number, keys: number];
}

/**
 * Arrays that runs may bring, if the plan names them in {@link PlanOptions.inputs}, and then must.
 * Bias and mask without a shape have queries * keys elements, the same for all batches and heads, or
 * batch * heads * queries * keys.
 */
export interface InputArrays {
    /**
     * Of key in i8, and needed then: what each token's elements are times, above 0, in the order
     * (batch, kvHead, key).
     */
    keyScales?: Floats | undefined;
    /** The same for value. */
    valueScales?: Floats | undefined;
    /** Added to the logits; -Infinity masks. */
    bias?: Floats | Grid<Floats> | undefined;
    /** 0 masks, all else does not. */
    mask?: Uint8Array | Grid<Uint8Array> | undefined;
    /** How many keys of each batch count, from 0 to `keys`. */
    kvLengths?: readonly number[] | Int32Array | Uint32Array | undefined;
    /** For each head a logit more in the sum of weights, without a value. */
    sinks?: Floats | undefined;
    /** ALiBi's slope of each head. */
    slopes?: Floats | undefined;
}
