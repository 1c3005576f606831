import assert from "node:assert/strict";
import { test } from "node:test";

import { hiddenFrom, mpiTables, predict } from "./mpi.mjs";

const machine = { rate: 1e11, latency: 1e-5, bandwidth: 1e9 };
const shape = { share: 1, heads: 8, kvHeads: 2, dim: 64, bytes: 4 };

test("one rank computes all pairs and sends nothing that counts", () => {
    const { seconds, efficiency } = predict({ ...shape, ranks: 1, tokens: 1e5 }, machine);
    assert.equal(efficiency, 1);
    assert.equal(seconds, (4 * 8 * 64 * 1e10) / 1e11);
});

test("a hop is as long as the longer of its halves", () => {
    const at = hiddenFrom(shape, machine);
    assert.equal(at, (4 * 2 * 1e11) / (2 * 8 * 1e9));
    for (const [rows, isHidden] of [
        [2 * at, true],
        [at / 2, false],
    ]) {
        const ranks = 10;
        const one = predict({ ...shape, ranks, tokens: ranks * rows }, machine);
        assert.equal(one.computes >= one.sends, isHidden);
        const longer = isHidden ? one.computes : one.sends;
        assert.equal(one.seconds, one.computes + 9 * longer);
        assert.equal(one.efficiency === 1, isHidden);
    }
});

test("lines of two ranks become tables", () => {
    const ring = (ranks, causal, layout, seconds) =>
        JSON.stringify({
            ...{ what: "ring", ranks, length: 100, causal, layout, seconds },
            ...{
                working: seconds,
                waiting: 0.001,
                alone: 0.004,
                flops: 1e9,
                heads: 8,
                kv_heads: 2,
                dim: 64,
            },
        });
    const { tables } = mpiTables(
        [
            ring(1, 0, "contiguous", 0.1),
            ring(1, 1, "contiguous", 0.05),
            JSON.stringify({ what: "network", ranks: 2, latency: 1e-6, bandwidth: 1e9 }),
            ring(2, 0, "contiguous", 0.06),
            ring(2, 1, "zigzag", 0.03),
            '{"what": "memory", "ranks": 2, "length": 9, "arrays": 8, "blocks": 2, "sums": 4, "peak": 15}',
            "mpirun has something to say",
        ].join("\n"),
    );
    assert.deepEqual(
        tables.map(({ topic }) => topic),
        Array(5).fill("mpi"),
    );
    const [, , full] = tables[0].rows;
    assert.equal(full[0], "full");
    assert.ok(Math.abs(full[5] - 100 / 1.2) < 1e-9 && Math.abs(full[8] - 75) < 1e-9);
    assert.deepEqual(tables[1].rows, [["2", 8, 2, 4, 14, 15]]);
    for (const { columns, rows } of tables)
        for (const row of rows) assert.equal(row.length, columns.length);
});
