/** Arrays that are query, key and value in one, as many models save them, by their names and their thirds. */

const thirds = ["q", "k", "v"] as const;

export type Third = (typeof thirds)[number];

/** Is it one of them, by its name? */
export function isPacked(name: string): boolean {
    return /qkv|query_key_value|c_attn|in_proj/i.test(name);
}

/** The names of its thirds, which stand beside its own. */
export function thirdsOf(tensor: string | null): string[] {
    return thirds.map((third) => `${tensor === null ? "" : `${tensor} `}→ ${third}`);
}

/** Of such a name the array's, and which third it is. */
export function thirdOf(name: string | null): { tensor: string | null; index: number } | null {
    const [, tensor, third] = /^(?:([^]*) )?→ ([qkv])$/.exec(name ?? "") ?? [];
    return third === undefined
        ? null
        : { tensor: tensor ?? null, index: thirds.indexOf(third as Third) };
}

/** The axis that has the three: one of its own, or the last, whose columns are theirs; -1 where there is none. */
export function packedAxis(shape: readonly number[]): number {
    const own = shape.slice(0, -1).flatMap((size, axis) => (size === 3 ? [axis] : []));
    const [axis] = own;
    if (shape.length > 2 && own.length === 1 && axis !== undefined) return axis;
    return (shape.at(-1) ?? 1) % 3 === 0 ? shape.length - 1 : -1;
}

export function thirdShape(shape: readonly number[]): number[] {
    const axis = packedAxis(shape);
    const size = shape[axis] ?? 0;
    return size === 3 && axis < shape.length - 1
        ? shape.filter((_, k) => k !== axis)
        : shape.map((count, k) => (k === axis ? size / 3 : count));
}

/** A third's elements of `size` bytes each. */
export function thirdData(
    data: Uint8Array,
    shape: readonly number[],
    { size, isFortran, index }: { size: number; isFortran: boolean; index: number },
): Uint8Array {
    const [dims, axis] = isFortran
        ? [shape.toReversed(), shape.length - 1 - packedAxis(shape)]
        : [shape, packedAxis(shape)];
    const inner = (dims.slice(axis).reduce((product, count) => product * count, size) / 3) | 0;
    const rows = dims.slice(0, axis).reduce((product, count) => product * count, 1);
    const third = new Uint8Array(rows * inner);
    for (let row = 0; row < rows; row++) {
        const first = (3 * row + index) * inner;
        third.set(data.subarray(first, first + inner), row * inner);
    }
    return third;
}
