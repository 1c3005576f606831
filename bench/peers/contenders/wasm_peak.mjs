// How many float operations a second WebAssembly can do at most in this engine: independent chains
// of f32x4.mul and f32x4.add that never leave the registers. The module is written by hand:
//
//     (func (export "spin") (param $rounds i32) (param $x f32) (result f32) (local $x0 v128) ...
//       (local.set $xi (f32x4.splat (local.get $x))) ...
//       (loop
//         (local.set $xi (f32x4.add (f32x4.mul (local.get $xi) (local.get $xi)) (local.get $xi))) ...
//         (br_if 0 (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
//       (f32x4.extract_lane 0 (f32x4.add ... (local.get $xi))))
//
// It is called with x = 0, which stays 0: no denormal slows it down. That x is an argument, and that
// the sum is returned, keeps the compiler from leaving the loop out.

const CHAINS = 12; // as many as fit with the products into SSE's 16 registers
const FLOPS = CHAINS * 4 * 2; // a round

const I32 = 0x7f;
const F32 = 0x7d;
const V128 = 0x7b;
const FIRST = 2; // the local after the parameters
const LOOP = [0x03, 0x40];
const END = 0x0b;
const SPLAT = [0xfd, 0x13];
const EXTRACT_LANE_0 = [0xfd, 0x1f, 0];
const ADD = [0xfd, 0xe4, 0x01];
const MULTIPLY = [0xfd, 0xe6, 0x01];
const COUNT_DOWN = [0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0];

const get = (local) => [0x20, local];
const set = (local) => [0x21, local];
const each = (make) => Array.from({ length: CHAINS }, (_, i) => make(FIRST + i)).flat();

/** An unsigned LEB128 of two bytes. */
const twoBytes = (value) => [(value & 0x7f) | 0x80, value >> 7];
const section = (id, ...body) => [id, ...twoBytes(body.length), ...body];

function moduleBytes() {
    const start = each((x) => [...get(1), ...SPLAT, ...set(x)]);
    const chains = each((x) => [...get(x), ...get(x), ...MULTIPLY, ...get(x), ...ADD, ...set(x)]);
    const sum = each((x) => (x === FIRST ? get(x) : [...get(x), ...ADD]));
    const loop = [...LOOP, ...chains, ...COUNT_DOWN, END];
    const body = [0x01, CHAINS, V128, ...start, ...loop, ...sum, ...EXTRACT_LANE_0, END];
    const name = [...new TextEncoder().encode("spin")];
    return new Uint8Array([
        ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
        ...section(1, 0x01, 0x60, 0x02, I32, F32, 0x01, F32),
        ...section(3, 0x01, 0x00),
        ...section(7, 0x01, name.length, ...name, 0x00, 0x00),
        ...section(10, 0x01, ...twoBytes(body.length), ...body),
    ]);
}

/** Resolves to a function that multiplies and adds, so many operations in all. */
export async function spinner() {
    const { instance } = await WebAssembly.instantiate(moduleBytes());
    return (operations) => instance.exports.spin(Math.max(1, operations / FLOPS), 0);
}
