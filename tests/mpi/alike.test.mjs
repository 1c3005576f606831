// Ranks of one `attn run --mpi` that are called with other words than the others.

import { test } from "node:test";

import { random } from "../cli/attention.mjs";
import { withFiles } from "../cli/command.mjs";
import { npy } from "../cli/npy.mjs";
import { ARGS, files, mask, refuse, sizes, square } from "./job.mjs";
import { assertDone, onEach } from "./ranks.mjs";

test("a rank with another option", () => {
    refuse([{ args: ARGS }, { args: [...ARGS, "--causal"] }], /ranks differ in causal: 0 to 1/);
    refuse([{ args: ARGS }, { args: [...ARGS, "--scale", "2"] }], /ranks differ in scale/);
    const params = [...ARGS, "--set", "precision=int8"];
    refuse([{ args: ARGS }, { args: params }], /ranks differ in the number of parameters/);
    const sinks = (list) => ({ args: [...ARGS, "--sinks", list] });
    refuse([sinks("1,2,3,4"), sinks("1,2,3,5")], /ranks differ in --sinks: /);
});

/** The odd rank has another word behind the option. */
function differ(args, option, other, given = {}) {
    const odd = args.with(args.indexOf(option) + 1, other);
    const says = new RegExp(`^attn: --mpi: ranks differ in ${option}: .* in the same words$`);
    refuse([{ args }, { args: odd }], says, given);
}

const cube = files({ ...sizes, dv: sizes.d });

test("a rank with the file of another input, of the same shape", () => {
    differ(ARGS, "--v", "k.npy", cube);
});

test("a rank with another file of the same shape", () => {
    const extra = ["--past-k", "k.npy", "--past-v", "v.npy", "--bias", "b.npy"];
    const given = { ...cube, "b.npy": npy([45, 74], random(45 * 74, 7)) };
    const copies = Object.entries(given).map(([name, bytes]) => [`other-${name}`, bytes]);
    Object.assign(given, Object.fromEntries(copies));
    differ(ARGS, "--q", "other-q.npy", given);
    differ(ARGS, "--k", "other-k.npy", given);
    differ([...ARGS, ...extra], "--past-k", "other-k.npy", given);
    differ([...ARGS, ...extra], "--past-v", "other-v.npy", given);
    differ([...ARGS, ...extra], "--bias", "other-b.npy", given);
});

test("a rank with another gate, mask, list or block mask", () => {
    const blocks = npy(
        [12, 10],
        random(120, 3).map((x) => x > -0.3),
        { descr: "|b1" },
    );
    const gate = npy(
        [2, 45, 1],
        random(90, 4).map((x) => -Math.abs(x)),
    );
    const each = (args, from, to, says, given) => {
        const odd = args.map((word) => word.replace(from, to));
        refuse([{ args }, { args: odd }], says, given);
    };
    each([...ARGS, "--mask", "mask.npy"], "mask.npy", "other.npy", /ranks differ in --mask: /, {
        "mask.npy": mask,
        "other.npy": mask,
    });
    const gates = ["--causal", "--set", "rule=gated", "--input", "decay=decay.npy"];
    const linear = ["linear", ...ARGS.slice(1), ...gates];
    const decays = { ...files(square), "decay.npy": gate, "other.npy": gate };
    each(linear, "decay.npy", "other.npy", /ranks differ in --input decay: /, decays);
    const pattern = ["--set", "pattern=blocks", "--set", "block=4"];
    const sparse = ["sparse", ...ARGS.slice(1), ...pattern, "--input", "block_mask=blocks.npy"];
    const masks = { "blocks.npy": blocks, "other.npy": blocks };
    each(sparse, "blocks.npy", "other.npy", /ranks differ in --input block_mask: /, masks);
    each([...ARGS, "--kv-lens", "31"], "31", "30", /ranks differ in --kv-lens: /);
});

test("what each rank has of its own may differ", () => {
    withFiles(files(sizes), (folder) => {
        const own = [...ARGS, "--threads", "2", "--mpi-wait", "50"];
        assertDone(onEach([{ args: ARGS }, { args: own }], folder));
    });
});

test("a rank with another output", () => {
    const more = (...words) => ({ args: [...ARGS, ...words] });
    const other = { args: [...ARGS.slice(0, -1), "p.npy"] };
    refuse([more(), more("--lse", "l.npy")], /ranks differ in outputs or their files/);
    refuse([more("--lse", "l.npy"), more()], /ranks differ in outputs or their files/);
    refuse([more(), other], /ranks differ in outputs or their files/);
});
