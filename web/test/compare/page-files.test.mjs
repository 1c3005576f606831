/** Files and plugins that a reader drops on the page. */

import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { exactAttention, largestError } from "../../../tests/exact/exact.mjs";
import { zipSync } from "fflate";
import { settled } from "../support/browser.mjs";
import { npy, npyOf, randomNpy, randomNumbers } from "../support/npy.mjs";
import {
    mostOfText,
    backends,
    change,
    drop,
    errors,
    number,
    openSlowly,
    opener,
    page,
    panel,
    picture,
    rested,
    run,
    site,
    testOrigins,
    write,
} from "../support/panels.mjs";
import { templatePlugin } from "../support/plugin.mjs";

test(opener("a file that is dropped while the page still loads is what it shows"), async () => {
    const arrive = await openSlowly(site.url);
    await drop({ "x.npy": randomNpy([12, 8], 1) });
    await rested({ evenIfBusy: true });
    arrive();
    await settled(page);
    assert.match(await page.textContent("#summary"), /12 queries, 12 keys/);
});

/** The key in an address under which the browser keeps the files that are shown; none: undefined. */
const filesIn = (href) => /files=(\w+)/.exec(href)?.[1];

/** The key of what is shown, once it is kept: until then the address has none, or the one of `before`. */
async function filesKept(before) {
    await page.waitForURL(({ href }) => ![undefined, before].includes(filesIn(href)));
    return filesIn(page.url());
}

let archive; // takes seconds to pack, too

/** An archive that takes seconds to read: 160 MB of integers, which are zeros. */
function slowArchive() {
    const zeros = npyOf("<i8", [100_000, 64], Buffer.alloc(8 * 64 * 100_000));
    const arrays = { "q.npy": zeros, "k.npy": zeros, "v.npy": zeros };
    return (archive ??= Buffer.from(zipSync(arrays)));
}

test("a text that is typed while files are read does not wait for them", async () => {
    const started = [];
    page.on("worker", (worker) => started.push(worker.url()));
    await drop({ "x.npz": slowArchive() });
    await page.locator("#progress:not(.idle)", { hasText: "Reading" }).waitFor();
    await write("one two three");
    assert.match(await page.textContent("#summary"), /^3 tokens/);
    assert.equal(started.length, 1, `${started}: the worker that read is ended, and another began`);
    const kept = await errors();
    await rested();
    assert.match(await page.textContent("#summary"), /^3 tokens/);
    assert.deepEqual(await errors(), kept);
});

test("Stop ends the reading of files, and what was there stays", async () => {
    const before = await errors();
    await drop({ "x.npz": slowArchive() });
    await page.locator("#progress:not(.idle)", { hasText: "Reading" }).waitFor();
    await page.click("#progress button");
    await page.locator("#input-problem", { hasText: "Stopped before it was read." }).waitFor();
    await page.locator("#progress.idle").waitFor({ state: "attached" });
    assert.deepEqual(await errors(), before);
    await page.locator("[data-backend=sparse] canvas").focus(); // what the ended worker had is known
    for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page
        .locator(".row:not(.old) .row-error")
        .nth(backends.length - 1)
        .waitFor();
    await change(() => page.check("#causal"));
    assert.match(await page.textContent("#summary"), /^58 tokens/);
});

describe("files", () => {
    const heads = { batch: 1, query: 4, key: 2 };

    test("Q, K and V are told apart by their names", async () => {
        await change(() =>
            drop({
                "v.npy": randomNpy([heads.key, 30, 6], 3),
                "my_q.npy": randomNpy([heads.query, 20, 8], 1),
                "keys.npy": randomNpy([heads.key, 30, 8], 2),
            }),
        );
        const summary = await page.textContent("#summary");
        assert.match(summary, /20 queries, 30 keys · dimensions 8 and 6 · 4 heads/);
        assert.equal(await page.locator("#head option").count(), heads.query);
        const most = largestError(
            exactAttention(
                {
                    ...{ batch: 1, heads: 4, kvHeads: 2, queries: 20, keys: 30 },
                    dim: 8,
                    valueDim: 6,
                },
                {
                    query: randomNumbers([heads.query, 20, 8], 1),
                    key: randomNumbers([heads.key, 30, 8], 2),
                    value: randomNumbers([heads.key, 30, 6], 3),
                },
            ),
        );
        assert.ok((await number("softmax", "error")) <= most);
        const first = await picture("softmax");
        await page.selectOption("#head", "3");
        await page.waitForFunction(
            ([selector, old]) => document.querySelector(selector).toDataURL() !== old,
            ["[data-backend=softmax] canvas", first],
        );
        await change(() => page.click(".file-source .use-text"));
        assert.match(await page.textContent("#summary"), /tokens/);
    });

    test("a single file is all three", async () => {
        const file = { name: "x.npy", mimeType: "", buffer: randomNpy([12, 8], 1) };
        await change(() => page.setInputFiles("#files", file));
        assert.match(await page.textContent("#summary"), /12 queries, 12 keys · dimension 8/);
    });

    test("every kind of float that the command line reads is read; what is no float or number is told", async () => {
        const shape = [6, 4];
        const eighths = randomNumbers(shape, 5).map((x) => Math.round(8 * x) / 8); // in all of them
        const byColumns = eighths.map((_, i) => eighths[(i % 6) * 4 + Math.floor(i / 6)]);
        const arrays = {
            "<f2": (numbers) => Uint16Array.from(numbers, f16Bits),
            "<f4": (numbers) => Float32Array.from(numbers),
            "<f8": (numbers) => Float64Array.from(numbers),
        };
        const found = [];
        for (const [descr, array] of Object.entries(arrays)) {
            for (const [numbers, isFortran] of [
                [eighths, false],
                [byColumns, true],
            ]) {
                const file = npyOf(descr, shape, Buffer.from(array(numbers).buffer), isFortran);
                await change(() => drop({ "x.npy": file }));
                assert.match(await page.textContent("#summary"), /6 queries, 6 keys/, descr);
                found.push(JSON.stringify(await errors()));
            }
        }
        assert.equal(new Set(found).size, 1, found.join());
        for (const descr of ["<c8", "<U4"]) {
            await drop({ "x.npy": npyOf(descr, shape, Buffer.alloc(96)) });
            const line = page.locator("#input-problem", { hasText: descr });
            await line.waitFor();
            assert.match(
                await line.textContent(),
                /are not read; floats of 16 to 64 bits, whole numbers and/,
            );
        }
    });

    /** Of a multiple of 1/8 from -1 to 1. */
    function f16Bits(x) {
        if (x === 0) return 0;
        const exponent = Math.floor(Math.log2(Math.abs(x)));
        const fraction = Math.abs(x) / 2 ** exponent - 1;
        return (x < 0 ? 0x8000 : 0) + ((exponent + 15) << 10) + fraction * 1024;
    }

    test("integers and bfloat16 are the numbers that they stand for", async () => {
        const shape = [6, 4];
        const whole = randomNumbers(shape, 5).map((x) => Math.round(8 * x));
        await change(() => drop({ "x.npy": npy(shape, whole) }));
        const truth = await errors();
        const bits = (x) => new Uint32Array(Float32Array.of(x).buffer)[0] >>> 16; // 8 bits are enough
        const arrays = {
            "|i1": Int8Array.from(whole),
            "<i2": Int16Array.from(whole),
            "<i4": Int32Array.from(whole),
            "<i8": BigInt64Array.from(whole, BigInt),
            "<V2": Uint16Array.from(whole, bits),
        };
        for (const [descr, array] of Object.entries(arrays)) {
            await change(() => drop({ "x.npy": npyOf(descr, shape, Buffer.from(array.buffer)) }));
            assert.deepEqual(await errors(), truth, descr);
        }
    });

    test("tokens may come before heads: the reader says so, and a reload keeps it", async () => {
        const [tokens, heads, dim] = [10, 2, 4];
        const names = ["q", "k", "v"];
        const shape = [tokens, heads, dim];
        const files = names.map((name, i) => [`${name}.npy`, randomNpy(shape, i)]);
        const before = filesIn(page.url());
        await change(() => drop(Object.fromEntries(files)));
        assert.match(await page.textContent("#summary"), /2 queries, 2 keys.*10 heads/);
        const headsFirst = await filesKept(before);
        await change(() => page.selectOption("#picker [name=layout]", "tokens first"));
        assert.match(await page.textContent("#summary"), /10 queries, 10 keys.*2 heads/);
        const [query, key, value] = names.map((_, seed) => {
            const numbers = randomNumbers(shape, seed);
            return Array.from({ length: numbers.length }, (_, i) => {
                const [head, token] = [Math.floor(i / dim / tokens), Math.floor(i / dim) % tokens];
                return numbers[(token * heads + head) * dim + (i % dim)];
            });
        });
        const sizes = { batch: 1, heads, kvHeads: heads, queries: tokens, keys: tokens };
        const exact = exactAttention({ ...sizes, dim, valueDim: dim }, { query, key, value });
        const error = await number("softmax", "error");
        assert.ok(error <= largestError(exact), `${error}`);
        const line = await panel("sparse").locator("code").textContent();
        assert.match(
            line,
            /numpy\.save\("query\.npy", numpy\.load\("q\.npy"\)\.swapaxes\(-3, -2\)\)/,
        );
        const sparse = await number("sparse", "error");
        await filesKept(headsFirst);
        await page.reload();
        await settled(page);
        assert.equal(await page.inputValue("#picker [name=layout]"), "tokens first");
        assert.equal(await number("sparse", "error"), sparse);
    });

    test("lines of Python save a model's arrays under names that are told apart", async () => {
        const lines = await page.locator("#export code").textContent();
        const folder = await mkdtemp(join(tmpdir(), "page-"));
        try {
            const torch = `
from types import SimpleNamespace as Names
from contextlib import nullcontext as no_grad
def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    return query.name, key.name, value.name, is_causal, scale, enable_gqa
nn = Names(functional=Names(scaled_dot_product_attention=attention))
class Tensor:
    def __init__(self, name): self.name = name
    detach = float = cpu = lambda self: self
    def numpy(self): return self.name
`;
            const numpy = `
import json
def savez(file, **arrays): print(json.dumps([file, arrays]))
`;
            const model = `
from torch import Tensor, nn
def model(layers):
    for layer in range(layers):
        q, k, v = (Tensor(f"{name}{layer}") for name in "qkv")
        attend = nn.functional.scaled_dot_product_attention
        if layer == 0: answer = attend(q, k, v, None, 0.0, True)
        else: answer = attend(query=q, key=k, value=v, scale=2, enable_gqa=True)
        said = (True, None, False) if layer == 0 else (False, 2, True)
        assert answer == (q.name, k.name, v.name, *said)
    if layers == 1: raise ValueError("the model's own")
inputs = {"layers": 2}
`;
            /** What the model raises gets through, and the function is the old one. */
            const raising = `
import torch
inputs = {"layers": 1}
try: exec(open("lines.py").read())
except ValueError: assert nn.functional.scaled_dot_product_attention is torch.attention
else: raise AssertionError("nothing was raised")
`;
            await writeFile(join(folder, "torch.py"), torch);
            await writeFile(join(folder, "numpy.py"), numpy);
            await writeFile(join(folder, "lines.py"), lines);
            await writeFile(join(folder, "raising.py"), model + raising);
            await run("python3", ["raising.py"], { cwd: folder });
            await writeFile(join(folder, "save.py"), `${model}\n${lines}`);
            const { stdout } = await run("python3", ["save.py"], { cwd: folder });
            const named = ["q", "k", "v"].flatMap((role) =>
                [0, 1].map((layer) => [`layer${layer}.${role}`, `${role}${layer}`]),
            );
            const saved = ["attention.npz", Object.fromEntries(named)];
            const [first, second, written] = stdout.trim().split("\n");
            assert.deepEqual(JSON.parse(written), saved);
            assert.deepEqual(
                [first, second],
                ["layer0: is_causal=True, scale=None", "layer1: is_causal=False, scale=2"],
            );
        } finally {
            await rm(folder, { recursive: true });
        }
        const arrays = ["v", "q", "k"].map((role, i) => {
            return [`layer0.${role}.npy`, randomNpy([2, 6, 4], i)];
        });
        const npz = Buffer.from(zipSync(Object.fromEntries(arrays)));
        await change(() => drop({ "attention.npz": npz }));
        assert.equal(
            await page.locator(".file-list").textContent(),
            "Qlayer0.q of attention.npzKlayer0.k of attention.npzVlayer0.v of attention.npz",
        );
    });

    test("of .npz and .safetensors the arrays are found by name, and others can be picked", async () => {
        const names = ["layer.q_proj", "layer.k_proj", "layer.v_proj", "other"];
        const shape = [20, 8];
        const numbers = names.map((_, i) => randomNumbers(shape, i + 1));
        const plain = Object.fromEntries(
            names.slice(0, 3).map((name, i) => [`${name.at(6)}.npy`, npy(shape, numbers[i])]),
        );
        await change(() => drop(plain));
        const truth = await errors();
        assert.equal(await page.locator("#picker").isVisible(), true);

        const npz = zipSync(
            Object.fromEntries(names.map((name, i) => [`${name}.npy`, npy(shape, numbers[i])])),
        );
        for (const file of [
            { "x.npz": Buffer.from(npz) },
            { "x.safetensors": safetensors(names, shape, numbers) },
        ]) {
            await change(() => drop(file));
            assert.deepEqual(await errors(), truth);
            assert.match(await page.textContent(".file-list"), /layer\.k_proj of x\./);
            const options = page.locator("#picker [name=value] option");
            assert.equal(await options.count(), 1 + names.length);
            assert.match(await options.nth(4).textContent(), /^other · (<f4|F32) · 20 × 8$/);
            await change(() => page.selectOption("#picker [name=value]", "3"));
            assert.notDeepEqual(await errors(), truth);
            assert.match(await page.textContent(".file-list"), /other of x\./);
            assert.match(
                await panel("linear").locator("code").textContent(),
                /^python3 -c .*"layer\.q_proj".*--q query\.npy --k key\.npy --v value\.npy/s,
            );
        }
    });

    /** In the order of names. */
    function safetensors(names, shape, numbers) {
        const size = 4 * numbers[0].length;
        const entries = names.map((name, i) => {
            return [name, { dtype: "F32", shape, data_offsets: [i * size, (i + 1) * size] }];
        });
        const header = JSON.stringify(Object.fromEntries([["__metadata__", {}], ...entries]));
        const length = Buffer.alloc(8);
        length.writeBigUInt64LE(BigInt(header.length));
        const data = numbers.map((array) => Buffer.from(Float32Array.from(array).buffer));
        return Buffer.concat([length, Buffer.from(header), ...data]);
    }

    function tensorAt(offsets) {
        const entry = offsets && { dtype: "F32", shape: [8, 4], data_offsets: offsets };
        const header = JSON.stringify({ x: entry });
        const length = Buffer.alloc(8);
        length.writeBigUInt64LE(BigInt(header.length));
        return Buffer.concat([length, Buffer.from(header), Buffer.alloc(128)]);
    }

    function headed(header) {
        const length = Buffer.alloc(8);
        length.writeUInt32LE(header.length);
        return Buffer.concat([length, Buffer.from(header)]);
    }

    /** One bit of a stored array is not as it was. */
    function spoiled() {
        const zip = Buffer.from(zipSync({ "q.npy": [randomNpy([8, 4], 1), { level: 0 }] }));
        zip[zip.indexOf("PK\x01\x02", "latin1") - 5] ^= 1;
        return zip;
    }

    function longHeader() {
        const file = Buffer.alloc(12 + 1e6, "x");
        file.write("\x93NUMPY\x02\x00", "latin1");
        file.writeUInt32LE(1e6, 8);
        return file;
    }

    /** Two arrays, of 8 MiB and, as its directory says, of 250 MiB. */
    function bomb() {
        const zeros = new Uint8Array(8 * 2 ** 20);
        const zip = Buffer.from(zipSync({ "a.npy": zeros, "b.npy": zeros }));
        const entry = zip.lastIndexOf("PK\x01\x02"); // APPNOTE.TXT 4.3.12: at 24, the size unpacked
        zip.writeUInt32LE(250 * 2 ** 20, entry + 24);
        return zip;
    }

    test("NaN is counted and computed with", async () => {
        const numbers = Array.from({ length: 24 }, (_, i) => (i === 5 ? NaN : i / 24));
        await change(() => drop({ "x.npy": npy([6, 4], numbers) }));
        assert.match(await page.textContent("#summary"), /1 element NaN or infinite/);
        assert.match(await panel("softmax").locator(".problem").textContent(), /NaN or infinite/);
    });

    test("a file that is too large for the page is one line at once", async () => {
        const folder = await mkdtemp(join(tmpdir(), "page-"));
        try {
            const path = join(folder, "huge.npy");
            await writeFile(path, "");
            await truncate(path, 200e6); // bytes
            await page.setInputFiles("#files", path);
            const line = page.locator("#input-problem", { hasText: "huge.npy" });
            await line.waitFor();
            assert.match(await line.textContent(), /191 MiB.*64.0 MiB.*attn compare/);
        } finally {
            await rm(folder, { recursive: true });
        }
    });

    const q = randomNpy([8, 4], 1);
    const wrong = {
        "no .npy file": { "x.npy": Buffer.from("hello, this is not an array") },
        "an empty file": { "x.npy": Buffer.alloc(0) },
        "a truncated file": { "x.npy": q.subarray(0, q.length - 3) },
        "another kind of file": { "x.txt": Buffer.from("hello") },
        "an archive that is none": { "x.npz": Buffer.from("PK, and no more") },
        "tensors that are cut off": { "x.safetensors": Buffer.from("0123456789") },
        "two files": { "q.npy": q, "k.npy": q },
        "columns that differ": { "q.npy": q, "k.npy": randomNpy([8, 5], 1), "v.npy": q },
        "heads that differ": { "q.npy": q, "k.npy": q, "v.npy": randomNpy([2, 8, 4], 1) },
        "heads that do not divide": {
            "q.npy": randomNpy([3, 8, 4], 1),
            "k.npy": randomNpy([2, 8, 4], 1),
            "v.npy": randomNpy([2, 8, 4], 1),
        },
        "rows that differ": { "q.npy": q, "k.npy": q, "v.npy": randomNpy([9, 4], 1) },
    };
    const nameless = { "1.npy": q, "2.npy": q, "3.npy": q };
    const nowhere = /^the header of x.safetensors has sizes that are no whole numbers/;
    const damaged = {
        "a tensor before the file": [{ "x.safetensors": tensorAt([-96, 32]) }, nowhere],
        "a tensor behind the file": [
            { "x.safetensors": tensorAt([64, 192]) },
            /^x.safetensors is cut off: x ends at byte 192/,
        ],
        "a tensor that is none": [{ "x.safetensors": tensorAt(null) }, /no valid dtype for x/],
        "a header without an end": [{ "x.npy": longHeader() }, /^(?!.*stack)/],
        "an element type by a word of JavaScript's": [
            { "x.npy": npyOf("toString", [18, 1], Buffer.alloc(72)) },
            /type 'toString' are not read; floats of 16 to 64 bits, whole/,
        ],
        "an element type that is no real number": [
            { "x.npy": npyOf("<c8", [18, 1], Buffer.alloc(144)) },
            /^Q, x.npy: elements of type '<c8' are not read; floats of 16/,
        ],
        "fewer bytes than the shape has": [
            { "x.npy": npyOf("<i8", [3, 1], Buffer.alloc(23)) },
            /truncated: 23 bytes of data where its shape needs 24/,
        ],
        "an archive without an array": [
            { "x.npz": Buffer.from(zipSync({ "readme.txt": Buffer.from("hello") })) },
            /^x.npz: it has no array in it/,
        ],
        "an archive that is cut off": [
            { "x.npz": Buffer.from(zipSync({ "q.npy": q })).subarray(0, 99) },
            /^x.npz: /,
        ],
        "a header that is no object": [
            { "x.safetensors": headed("null") },
            /^the header of x.safetensors is no object of JSON/,
        ],
        "a header that is no JSON": [
            { "x.safetensors": headed("hello") },
            /^the header of x.safetensors is no object of JSON/,
        ],
        "an archive with other numbers than were packed": [
            { "x.npz": spoiled() },
            /x.npz: it is damaged: q.npy .* checksum/,
        ],
        "names that say nothing": [nameless, /names 1.npy, 2.npy, 3.npy: choose them above$/],
        "an archive that unpacks to too much": [{ "x.npz": bomb() }, /x.npz: .* bytes unpacked/],
    };
    /** What the page says of files that it refuses. */
    async function refusal(files) {
        await drop(files);
        await page.locator("#input-problem").waitFor();
        return page.textContent("#input-problem");
    }

    /** Another text is computed on, and nothing is said of files any more. */
    async function goesOn(name) {
        await write(`after ${name} on it goes`);
        assert.equal(await page.locator("#input-problem").isVisible(), false, name);
    }

    test("what is damaged is refused, and why", async () => {
        for (const [name, [files, line]] of Object.entries(damaged)) {
            assert.match(await refusal(files), line, name);
            await goesOn(name);
        }
    });

    test("what is no input: one clear line, and the page goes on", async () => {
        for (const [name, files] of Object.entries(wrong)) {
            const before = await errors();
            assert.match(await refusal(files), /^[^\n]{10,200}$/, name);
            assert.deepEqual(await errors(), before, name);
            await goesOn(name);
        }
    });
});

test("a plugin that is dropped has a panel like the others, once", async () => {
    const plugin = await templatePlugin();
    await change(() => drop(plugin));
    assert.equal(await page.locator(".panel").count(), backends.length + 1);
    const id = '"org.libattn.template"';
    assert.equal(await panel(id).locator("h2").textContent(), "Template");
    const before = [await number(id, "error"), await picture(id)];
    assert.ok(before[0] > (await mostOfText()) && Number.isFinite(before[0]));
    assert.ok((await number(id, "time")) > 0);
    const slider = panel(id).locator("input[type=range]");
    await change(() => slider.fill("0"));
    assert.notEqual(await number(id, "error"), before[0]);
    assert.notEqual(await picture(id), before[1]);
    assert.match(
        await panel(id).locator("code").textContent(),
        /--backends org\.libattn\.template --plugin \.\/template\.so --set width=1$/,
    );
    await drop(plugin);
    await page.locator("#input-problem").waitFor();
    assert.match(await page.textContent("#input-problem"), /template' is registered already$/);
    assert.equal(await page.locator(".panel").count(), backends.length + 1);
    await drop({ "x.wasm": Buffer.from("hello") });
    await page.locator("#input-problem", { hasText: "cannot compile" }).waitFor();
    await write("and on it goes");
    assert.equal(await page.locator("#input-problem").isVisible(), false);
});

testOrigins();
