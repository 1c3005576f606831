/* The arrays of a call: their types, and where their elements are. */

/** The order of the axes in memory: (batch, head, row, column) or (batch, row, head, column). */
export type Layout = "bhnd" | "bnhd";

/**
 * Where element (b, h, i, c) of an array is: at b*s[0] + h*s[1] + i*s[2] + c*s[3]. Integers of at least
 * 0; 0 is the same for all (of inputs). The array may be longer than that reaches.
 */
export type Stride = readonly [batch: number, head: number, row: number, column: number];

/**
 * The strides of arrays that are not as the layout says. `out` needs an array to write to. Besides, of a backend's
 * own inputs, those whose rows are tokens, linear's `decay` and `beta`; of axes that are 1 for all they are 0.
 */
export interface Strides {
    query?: Stride | null | undefined;
    key?: Stride | null | undefined;
    value?: Stride | null | undefined;
    out?: Stride | null | undefined;
    decay?: Stride | null | undefined;
    beta?: Stride | null | undefined;
    [name: string]: Stride | null | undefined;
}

/** An element type of 16 bits: IEEE 754 binary16, or the upper half of a float32. */
export type HalfDtype = "f16" | "bf16";

/** Element types of query and output. */
export type OutDtype = "f32" | HalfDtype;

/**
 * How numbers are stored: all is computed in f32. f16 is a Uint16Array of its bits, or a Float16Array
 * where there is one; bf16 a Uint16Array of its bits; i8 an Int8Array with a scale for each token.
 */
export type Dtype = OutDtype | "i8";

/** A Float16Array, which not every program has the type of. */
export interface Float16ArrayLike extends ArrayBufferView {
    readonly [Symbol.toStringTag]: "Float16Array";
    readonly BYTES_PER_ELEMENT: number;
    readonly length: number;
    [index: number]: number;
}

/** Elements of 16 bits. */
export type HalfArray = Uint16Array | Float16ArrayLike;

/** The class of arrays that an element type is in. */
export interface ArrayTypes {
    f32: Float32Array;
    f16: HalfArray;
    bf16: Uint16Array;
    i8: Int8Array;
}

/** The same of arrays that a call makes: they are the caller's. */
export interface NewTypes {
    f32: Float32Array<ArrayBuffer>;
    f16: Uint16Array<ArrayBuffer> | Float16ArrayLike;
    bf16: Uint16Array<ArrayBuffer>;
}

/**
 * An array that says its shape, e.g. what `readNpy()` of libattn/data returns. The axes are in the order of the
 * layout; those that are left out in front are 1, so that (rows, columns) is one head of one batch.
 */
export interface Shaped<Data> {
    readonly data: Data;
    /** 1 to 4 integers. */
    readonly shape?: readonly number[] | null | undefined;
}

/** Elements of a class of arrays: as they are, in the module's memory, or with a shape. */
export type ArrayInput<Data> = Data | Tensor<Data> | Shaped<Data | Tensor<Data>>;

/** An array of a {@link Dtype} that is read or written. */
export type Elements<D extends Dtype = Dtype> = D extends Dtype ? ArrayInput<ArrayTypes[D]> : never;

/** An array that the results of a call are written to, or a new one. */
export type Output<D extends OutDtype> = ArrayInput<ArrayTypes[D]> | NewTypes[D];

/** Floats that are read or written; results that go to a Tensor are given as its `data`. */
export type Floats = ArrayInput<Float32Array>;

/** What is returned for the array that a result was to go to. */
export type Written<Out> = Out extends { readonly data: infer Data } ? Written<Data> : Out;

/**
 * Elements in the module's memory, which runs read and write in place: for keys and values that stay,
 * and for outputs that are used in place. Made by {@link Attn.tensor}, takes memory until disposed. One
 * that is dropped is freed as a {@link Plan} is, unless its `data` was got, also as a call's result:
 * then only dispose() frees it.
 */
export interface Tensor<Data = Float32Array> {
    readonly dtype: Dtype;
    readonly length: number;
    /** That of the {@link Shaped} it was made of; calls then know it. `null`: none. */
    readonly shape: readonly number[] | null;
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

/**
 * Inputs that backends declare of their own ({@link Backend.arrays}), by name: of which class their elements
 * are. They are options like the library's arrays. What a plugin has, the program that loads it adds:
 *
 * ```ts
 * declare module "libattn" {
 *     interface OwnInputs {
 *         widths: Float32Array;
 *     }
 * }
 * ```
 */
export interface OwnInputs {
    /**
     * Of backend "linear", whose README says what they do: (batch, kvHead, key, dim), or with layout "bnhd" (batch, key,
     * kvHead, dim); each axis may be 1, the same for all.
     */
    decay: Float32Array;
    /** (batch, kvHead, key), or with layout "bnhd" (batch, key, kvHead), with or without a 1 behind; each may be 1. */
    beta: Float32Array;
    /** (batch, kvHead, feature, valueDim). */
    state: Float32Array;
    /** (batch, kvHead, feature). */
    stateZ: Float32Array;
    /**
     * Of backend "sparse" with `pattern: "blocks"`: (batch, head, query block, key block), true where the queries see
     * the keys; the first two axes may be 1, as those of the lists that can stand for it.
     */
    blockMask: MaskArray;
    /** (batch, head, query block + 1): where the blocks of each begin in `blockColumns`, and where the last ends. */
    blockStarts: IntegerArray;
    /** (batch, head, entry): key blocks, ascending within a query block. */
    blockColumns: IntegerArray;
    /** (batch, head, entry): true where the mask is not looked at. */
    blockFull: MaskArray;
    /**
     * Of backend "sketch": X in compressed sparse rows, all three in place of query
     * and key, which it both is. The rows of all batches and heads one below the other: where the elements of each
     * begin, and where the last ones end, batch * heads * queries + 1 numbers.
     */
    xIndptr: IntegerArray;
    /** The feature of each element, ascending in a row; as many as parameter `elements` says. */
    xIndices: IntegerArray;
    /** The elements. */
    xData: Float32Array;
}

/** The same of outputs: `true`, or an array to write to, asks for one. */
export interface OwnOutputs {
    /** Of backend "linear": {@link OwnInputs.state} of what comes behind the last token. */
    stateOut: Float32Array;
    stateZOut: Float32Array;
}

/** {@link OwnInputs} as options. Where a plan names them in `inputs`, or its backend requires them, runs bring them. */
export type OwnInputArrays = {
    [Name in keyof OwnInputs]?: ArrayInput<OwnInputs[Name]> | null | undefined;
};

/** {@link OwnOutputs} as options. */
export type OwnOutputArrays = {
    [Name in keyof OwnOutputs]?: boolean | ArrayInput<OwnOutputs[Name]> | null | undefined;
};

/** {@link OwnOutputs} as results; those that were not asked for are not there. */
export type OwnResults = { [Name in keyof OwnOutputs]?: OwnOutputs[Name] };

/** The name of an array that runs bring beside query, key and value: see {@link InputArrays}. */
export type InputName = "bias" | "mask" | "kvLengths" | "sinks" | "slopes" | keyof OwnInputs;

/**
 * Arrays that runs may bring, if the plan names them in {@link PlanOptions.inputs}, and then must.
 * Bias and mask are in the order (batch, head, query, key). With a shape an axis of 1 is the same for
 * all, but for the keys; without one they have queries * keys elements, the same for all batches and
 * heads, or batch * heads * queries * keys.
 */
export interface InputArrays extends OwnInputArrays {
    /**
     * Of key in i8, and needed then: what each token's elements are times, above 0, in the order
     * (batch, kvHead, key).
     */
    keyScales?: Floats | null | undefined;
    /** The same for value. */
    valueScales?: Floats | null | undefined;
    /** Added to the logits; -Infinity masks. */
    bias?: Floats | null | undefined;
    /** 0 or false masks, all else does not. */
    mask?: MaskArray | Shaped<MaskArray> | null | undefined;
    /** How many keys of each batch count, from 0 to `keys`. */
    kvLengths?: IntegerArray | Shaped<IntegerArray> | null | undefined;
    /** For each head a logit more in the sum of weights, without a value; -Infinity: none. */
    sinks?: Floats | null | undefined;
    /** ALiBi's slope of each head. */
    slopes?: Floats | null | undefined;
}

/** Which keys are seen: bytes or booleans, one after the other. */
export type MaskArray = Uint8Array | readonly boolean[];

/** Integers of 64 bits that are read, one after the other. */
export type IntegerArray =
    readonly number[] | readonly bigint[] | Int32Array | Uint32Array | BigInt64Array;
