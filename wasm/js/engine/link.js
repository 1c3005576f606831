/*
 * Links a side module, which is what compilers make of position-independent code (DynamicLinking.md
 * of WebAssembly's tool-conventions), into the instance of libattn: it gets a piece of the memory
 * and of the table, shares the stack, and is given the functions that it imports.
 */
import { AttnError } from "../problem/errors.js";
import { refused } from "./plugin-source.js";

const ENTRY = "attn_plugin_entry"; // ATTN_PLUGIN_SYMBOL
const RAW = Symbol("the functions that do not guard");

/* What the module has not, where JavaScript's function is right for every argument, NaN and
 * infinities too. They are expf and its like as well: WebAssembly rounds a result to its type. */
const MATH = {
    __proto__: null,
    exp2: (x) => 2 ** x,
    fmax: (x, y) => (isNaN(x) ? y : isNaN(y) ? x : Math.max(x, y)),
    fmin: (x, y) => (isNaN(x) ? y : isNaN(y) ? x : Math.min(x, y)),
    pow: (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y),
};
const SAME =
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp expm1 hypot log log10 log1p log2 sin sinh tan tanh";
for (const name of SAME.split(" ")) MATH[name] = Math[name];

/**
 * The exports `c` with functions that say in an AttnError that code trapped. A trap leaves the stack
 * where it was: whoever catches it must put it back.
 */
export function guard(c) {
    if (c[RAW] || !c.attnjs_plugin_register) return c;
    const guarded = { __proto__: null, ...c, [RAW]: c };
    for (const [name, value] of Object.entries(c)) {
        if (typeof value !== "function") continue;
        guarded[name] = (...args) => {
            const top = c.__stack_pointer.value;
            try {
                return value(...args);
            } catch (cause) {
                c.__stack_pointer.value = top;
                throw new AttnError("ATTN_ERROR_TRAP", `the module trapped: ${cause.message}`, {
                    cause,
                });
            }
        };
    }
    return guarded;
}

/** Links a compiled module to guarded exports; {entry, release}: its entry's address, and its end. */
export async function link(heap, { [RAW]: c }, module, name) {
    const wanted = wants(module);
    if (!wanted) throw refused(name, "it is no side module: it has no section dylink.0");
    const { size, alignment, slots } = wanted;
    const room = heap.allocate(size + alignment, `plugin '${name}'`);
    const table = c.__indirect_function_table;
    const taken = [];
    const take = (count) => {
        const first = takeSlots(table, count);
        taken.push({ first, count });
        return first;
    };
    const release = () => {
        for (const range of taken) giveSlots(table, range);
        heap.free(room);
    };
    try {
        const memoryBase = Math.ceil(room / alignment) * alignment;
        heap.view(Uint8Array, memoryBase, size).fill(0);
        const { imports, settle } = provide(c, module, memoryBase, take(slots), name);
        const { exports } = await WebAssembly.instantiate(module, imports);
        settle(exports, (f) => {
            const slot = take(1);
            table.set(slot, f);
            return slot;
        });
        exports.__wasm_apply_data_relocs?.();
        exports.__wasm_call_ctors?.();
        const entry = exports[ENTRY];
        if (!(entry instanceof WebAssembly.Global))
            throw refused(name, `it has no symbol ${ENTRY}`);
        return { entry: memoryBase + entry.value, release };
    } catch (error) {
        release();
        if (error instanceof AttnError) throw error;
        throw refused(name, `cannot link: ${error.message}`, error);
    }
}

/* Ranges of each table that nobody uses any more: a table cannot shrink. */
const spare = new WeakMap();

function takeSlots(table, count) {
    const ranges = spare.get(table) ?? [];
    const fit = ranges.findIndex((range) => range.count === count);
    return fit < 0 ? table.grow(count) : ranges.splice(fit, 1)[0].first;
}

function giveSlots(table, { first, count }) {
    for (let i = 0; i < count; i++) table.set(first + i, null);
    spare.set(table, [...(spare.get(table) ?? []), { first, count }]);
}

/** Bytes of memory, their alignment, and slots of the table; null where it is no side module. */
function wants(module) {
    const [section] = WebAssembly.Module.customSections(module, "dylink.0");
    const bytes = new Uint8Array(section ?? 0);
    let at = 0;
    const number = () => {
        let value = 0;
        let scale = 1;
        for (; bytes[at] > 127; scale *= 128) value += (bytes[at++] & 127) * scale;
        return value + (bytes[at++] ?? 0) * scale; // LEB128
    };
    while (at < bytes.length) {
        const kind = number();
        const length = number();
        if (kind === 1) return { size: number(), alignment: 2 ** number(), slots: number() };
        at += length;
    }
    return null;
}

/**
 * What the module imports. settle(exports, slotOf) fills in the addresses that are known only when
 * there is an instance, of its own symbols and of functions.
 */
function provide(c, module, memoryBase, tableBase, plugin) {
    const constant = (value) => new WebAssembly.Global({ value: "i32" }, value);
    const env = {
        ...MATH,
        __proto__: null,
        __memory_base: constant(memoryBase),
        __table_base: constant(tableBase),
        memmove(to, from, size) {
            const bytes = new Uint8Array(c.memory.buffer);
            bytes.copyWithin(to >>> 0, from >>> 0, (from >>> 0) + (size >>> 0));
            return to;
        },
    };
    const imports = { __proto__: null };
    const addresses = [];
    const missing = [];
    const complain = () => {
        if (missing.length === 0) return;
        throw refused(plugin, `it needs what this build has not: ${missing.join(", ")}`);
    };
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        let value;
        if (from === "env") {
            value = c[name] ?? env[name] ?? env[name.replace(/f$/, "")];
        } else if (/^GOT\.(mem|func)$/.test(from)) {
            value = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
            addresses.push([name, value]);
        }
        if (value === undefined) missing.push(name);
        imports[from] ??= { __proto__: null };
        imports[from][name] = value;
    }
    complain();

    const settle = (exports, slotOf) => {
        for (const [name, address] of addresses) {
            const target = exports[name] ?? c[name];
            if (target instanceof WebAssembly.Global) address.value = memoryBase + target.value;
            else if (target) address.value = slotOf(target);
            else missing.push(name);
        }
        complain();
    };
    return { imports, settle };
}
