// Turns and rows in which something fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { byTurns, eachRow, turnsFor } from "./turns.mjs";

const fail = async () => {
    throw new Error("no answer");
};

test("contenders take turns, and a time of each is their median", async () => {
    const order = [];
    const timeOf = (name, times) => async () => {
        order.push(name);
        return times.splice(0, 2);
    };
    const contenders = { a: timeOf("a", [5, 1, 2, 9, 3, 4]), b: timeOf("b", [7, 7, 7, 7, 8, 8]) };
    assert.deepEqual(await byTurns(contenders, 3, assert.fail), { a: 3.5, b: 7 });
    assert.deepEqual(order, ["a", "b", "a", "b", "a", "b"]);
});

test("one that fails in a later round has no time and no more turns, and the others have theirs", async () => {
    const told = [];
    let turns = 0;
    const contenders = {
        lost: async () => (++turns > 1 ? fail() : [1]),
        kept: async () => [2],
    };
    const times = await byTurns(contenders, 4, (name, { message }) => told.push([name, message]));
    assert.deepEqual(times, { lost: NaN, kept: 2 });
    assert.deepEqual(told, [["lost", "no answer"]]);
    assert.equal(turns, 2);
});

test("a row that fails is told of, and the others are there", async () => {
    const told = [];
    const measure = async (name, row) => (row === 2 ? fail() : [name, row]);
    const rows = await eachRow({ a: 1, b: 2, c: 3 }, measure, (name) => told.push(name));
    assert.deepEqual(rows, [
        ["a", 1],
        ["c", 3],
    ]);
    assert.deepEqual(told, ["b"]);
});

test("short calls have more and shorter turns, long ones as many as are asked for", () => {
    assert.deepEqual(turnsFor([0.0004, 0.0006, 0.002], 1.5, 6), { turn: 0.03125, rounds: 48 });
    assert.deepEqual(turnsFor([0.005, 0.0125, 0.3], 1.5, 6), { turn: 0.05, rounds: 30 });
    assert.deepEqual(turnsFor([0.3, 0.5, 1], 1.5, 6), { turn: 0.25, rounds: 6 });
    assert.deepEqual(turnsFor([0.14], 4.5, 6), { turn: 0.5625, rounds: 8 }); // 4.5 s in all
    assert.equal(turnsFor([0.001], 5e-324, 6).rounds, 6);
});

test("where every contender failed there are no more turns", () => {
    assert.ok(!(turnsFor([], 1.2, 6).rounds > 0));
});
