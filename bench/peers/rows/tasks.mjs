// What rows are made of: what is asked for, and what speed is told in.

/** A number of bytes or operations a second is told as a share of one of these measured peaks. */
export const units = {
    flops: { quantity: "gflops", unit: "GFLOP/s", peak: "float arithmetic" },
    bytes: { quantity: "gbps", unit: "GB/s", peak: "reading as many bytes" },
    state: { quantity: "gbps", unit: "GB/s", peak: "reading and writing the state" },
};

const base = { heads: 8, kv_heads: 8, causal: 0, threads: 1, kv: "f32", stream: 0 };
export const square = (n, dim, more) => ({ ...base, queries: n, keys: n, dim, ...more });
export const oneQuery = (keys, more) => ({ ...base, queries: 1, keys, dim: 128, ...more });
export const row = (id, label, task, names) => ({ id, label, task, names });
export const two = { threads: 2 };
export const withOne = (names) => ["libattn", "libattn, 1 thread", ...names.slice(1)];

/** Rows of exact attention at usual sizes: every query sees every key, those before it, or there is one. */
export const full = (id, n, names, more) =>
    row(id, `full, n = ${n}, d = 64`, square(n, 64, more), names);
export const causal = (id, n, names, more) =>
    row(id, `causal, n = ${n}, d = 64`, square(n, 64, { ...more, causal: 1 }), names);
export const decode = (id, keys, names, more) =>
    row(id, `m = ${keys}, d = 128`, oneQuery(keys, more), names);

/** What families of one query are told in. */
export const ofReading = {
    note: "The last cache may hold keys and values of 34 MB and less: as well as what is read in their place for the peak.",
    unit: units.bytes,
    peak: "read",
};

/** Names of contenders but those with such words. */
export const without = (names, ...left) =>
    names.filter((name) => !left.some((one) => name.includes(one)));

export const ownWeb = ["libattn, SIMD128", "libattn, relaxed SIMD"];
