// Wrong input: one clear line on standard error, exit status 2, and no file that was not there.

import { describe, test } from "node:test";

import { attn } from "./command.mjs";
import { inputs, ok, refuse, run } from "./wrong.mjs";

/** [what, arguments, what the line says] */
const commands = [
    ["no command", [], /command is missing/],
    ["an unknown command", ["frobnicate"], /unknown command 'frobnicate'/],
    ["an unknown option", run(...ok, "--fast"), /unknown option '--fast'/],
    [
        "an option of another command",
        ["compare", ...inputs(), "--backend=linear"],
        /compare: unknown option '--backend=linear' \(did you mean --backends\?\)/,
    ],
    [
        "an option longer than it is",
        ["bench", "--backends=linear"],
        /unknown option '--backends=linear' \(did you mean --backend\?\)/,
    ],
    ["an unknown backend to list", ["list", "dense"], /unknown backend 'dense' \(see attn list\)/],
    ["one backend as JSON", ["list", "linear", "--json"], /--json is of all backends/],
    ["an unknown letter", run(...ok, "-x"), /unknown option '-x'/],
    ["no backend", ["run", "--q", "x.npy"], /BACKEND is missing/],
    ["a second backend", run("linear", ...ok), /unexpected 'linear'/],
    [
        "a value without its sign",
        run(...ok, "--causal", "bottom-right"),
        /unexpected 'bottom-right' \(.*--causal=bottom-right\)/,
    ],
    ["no output", run(...inputs()), /--output is missing/],
    ["no keys", run("--q", "x.npy", "--v", "x.npy", "-o", "o.npy"), /--k is missing/],
    ["no value", run(...inputs(), "-o"), /--output needs a value/],
    ["no value before another option", run("--q", "--k", "x.npy"), /--q needs a value: Q\.npy\n/],
    ["no sinks before a rule", run(...ok, "--sinks", "--causal"), /--sinks needs a value/],
    ["a file called as an option", run(...inputs("--k", "x.npy"), "-o", "o.npy"), /needs a value/],
    ["a value for a switch", ["list", "--json=yes"], /--json takes no value/],
    ["two formats", ["compare", ...inputs(), "--md", "--csv"], /exclude each other/],
    [
        "no number of threads",
        run(...ok, "--threads", "many"),
        /--threads: 'many' is not a whole number/,
    ],
    ["no threads", run(...ok, "--threads", "0"), /--threads: 0 is outside 1 to 1024/],
    ["too many threads", run(...ok, "--threads", "1025"), /outside 1 to 1024/],
    [
        "a number that overflows",
        run(...ok, "--threads", "99999999999999999999"),
        /--threads: 9{20} is outside 1 to 1024/,
    ],
    ["no scale", run(...ok, "--scale", "big"), /--scale: 'big' is not a finite number/],
    [
        "a scale of no f32",
        run(...ok, "--scale", "1e99"),
        /--scale: '1e99' is beyond the largest f32/,
    ],
    ["an infinite scale", run(...ok, "--scale", "1e999"), /1e999. is beyond the largest f32/],
    ["a NaN scale", run(...ok, "--scale=nan"), /not a finite number/],
    ["an unknown corner", run(...ok, "--causal=left"), /--causal: 'left' is neither/],
    ["a window of one number", run(...ok, "--window", "3"), /--window: '3' is not of the form L,R/],
    ["a window of three", run(...ok, "--window=1,2,3"), /'1,2,3' is not of the form/],
    ["a window of words", run(...ok, "--window=a,b"), /'a,b' is not of the form/],
    ["a negative window", run(...ok, "--window=-2,0"), /'-2,0' is not of the form/],
    ["a window of fractions", run(...ok, "--window=1.5,0"), /'1.5,0' is not of the form/],
    [
        "a window that overflows",
        run(...ok, "--window=99999999999999999999,0"),
        /is beyond 2\^61 - 1 keys/,
    ],
    ["a window too large", run(...ok, "--window=9223372036854775807,0"), /window/],
    [
        "a window that sees what causal hides",
        run(...ok, "--causal", "--window=2,1"),
        /window of 1 keys to the right contradicts causal/,
    ],
    [
        "a window on a backend that has none",
        ["run", "linear", ...ok, "--window=2,2"],
        /'linear' does not do sliding windows/,
    ],
    ["a mask on one", ["run", "linear", ...ok, "--mask=mask.npy"], /'linear' does not do masks/],
    ["a softcap on one", ["run", "sketch", ...ok, "--softcap=3"], /'sketch' does not do softcap/],
    ["a negative softcap", run(...ok, "--softcap=-1"), /softcap is -1, must be 0 or more/],
    ["no softcap", run(...ok, "--softcap=much"), /--softcap: 'much' is not a finite number/],
    ["scores of one", ["run", "linear", ...ok, "--scores=s.npy"], /does not do scores/],
    ["a mode beyond", run(...ok, "--scores=s.npy", "--scores-mode=4"), /4 is outside 0 to 3/],
    ["a mode of nothing", run(...ok, "--scores-mode=1"), /--scores-mode needs --scores/],
    ["a missing mask", run(...ok, "--mask=none.npy"), /none\.npy: cannot be opened/],
    [
        "a mask of floats",
        run(...ok, "--mask=square.npy"),
        /square\.npy .*float32.*only bool is read/,
    ],
    ["a mask of bytes", run(...ok, "--mask=bytes.npy"), /bytes\.npy .*uint8.*only bool is read/],
    [
        "a bias of truths",
        run(...ok, "--bias=mask.npy"),
        /mask\.npy has elements of bool .*only float32/,
    ],
    ["a mask of rank 5", run(...ok, "--mask=mask5.npy"), /has rank 5; wanted 1 \(m\) to 4/],
    [
        "a mask of other rows and columns",
        run(...ok, "--mask=mask57.npy"),
        /mask57\.npy \(5, 7\) does not broadcast to \(B, H, n, m\) = \(1, 1, 6, 6\)/,
    ],
    ["a mask of a key too few", run(...ok, "--mask=mask65.npy"), /\(6, 5\) does not broadcast/],
    [
        "a mask without columns that somebody has",
        run(...ok, "--mask=mask65.npy", "--kv-lens=6"),
        /\(6, 5\) does not broadcast/,
    ],
    ["a mask of other heads", run(...ok, "--mask=mask3.npy"), /\(3, 6, 6\) does not broadcast/],
    ["a bias of other columns", run(...ok, "--bias=x.npy"), /\(6, 4\) does not broadcast/],
    ["lengths too many", run(...ok, "--kv-lens=3,4"), /--kv-lens: 2 values for 1 batch\n/],
    ["lengths too many in a file", run(...ok, "--kv-lens=int2.npy"), /2 values for 1 batch\n/],
    ["a length too large", run(...ok, "--kv-lens=7"), /sequence 0 has 7 keys, must be 0 to 6/],
    ["one in a file", run(...ok, "--kv-lens=seven.npy"), /sequence 0 has 7 keys/],
    ["a negative length", run(...ok, "--kv-lens=-1"), /sequence 0 has -1 keys/],
    ["a length of a fraction", run(...ok, "--kv-lens=1.5"), /'1.5' is not a whole number/],
    [
        "a length, far too long",
        run(...ok, `--kv-lens=${"0".repeat(200)}1`),
        /too long for a number/,
    ],
    ["a size, far too long", ["bench", `--n=${"0".repeat(200)}8`], /--n: '0{20}...' is too long/],
    ["a size of many digits", ["bench", `--n=8${"0".repeat(31)}`], /--n: 80{31} is outside 1 to/],
    ["lengths of floats", run(...ok, "--kv-lens=float1.npy"), /only int32 and int64 are read/],
    ["lengths of nothing", run(...ok, "--kv-lens="), /value of --kv-lens is empty; it takes A/],
    ["a corner of nothing", run(...ok, "--causal="), /value of --causal is empty; it takes CORNER/],
    ["slopes of nothing", run(...ok, "--alibi="), /the value of --alibi is empty/],
    ["slopes of nothing, by name", run(...ok, "--input=slopes="), /'slopes=' has no value/],
    ["a mask of nothing, by name", run(...ok, "--input", "mask="), /'mask=' has no value/],
    ["a tier of nothing", run(...ok, "--cpu="), /the value of --cpu is empty/],
    ["a plugin of nothing", run(...ok, "--plugin", ""), /the value of --plugin is empty/],
    ["keys of nothing", run(...inputs("x.npy", ""), "-o", "o.npy"), /the value of --k is empty/],
    ["a length after a comma", run(...ok, "--kv-lens=3,"), /2 values for 1 batch\n/],
    ["sinks too many", run(...ok, "--sinks=1,2"), /--sinks: 2 values for 1 head\n/],
    ["sinks too many in a file", run(...ok, "--sinks=float2.npy"), /2 values for 1 head\n/],
    [
        "sinks of rank 5",
        run(...ok, "--sinks=float5.npy"),
        /float5\.npy has rank 5; wanted 1 \(H\) to 4 \(1, H, 1, 1\)\n/,
    ],
    [
        "lengths of rank 5",
        run(...ok, "--kv-lens=int5.npy"),
        /has rank 5; wanted 1 \(B\) to 4 \(B, 1, 1, 1\)\n/,
    ],
    [
        "sinks of other heads, all axes",
        run(...ok, "--sinks=sinks3.npy"),
        /^attn: --sinks: sinks3\.npy \(1, 3, 1, 1\) does not fit \(1, H, 1, 1\) = \(1, 1, 1, 1\)\n/,
    ],
    [
        "sinks along an axis that is none of theirs",
        run(
            ...inputs("heads3.npy", "heads3.npy", "heads3.npy"),
            "-o",
            "o.npy",
            "--sinks=last3.npy",
        ),
        /last3\.npy \(1, 1, 3\) does not fit \(1, H, 1, 1\) = \(1, 3, 1, 1\)\n/,
    ],
    [
        "lengths behind an axis of 1",
        run(
            ...inputs("batch2.npy", "batch2.npy", "batch2.npy"),
            "-o",
            "o.npy",
            "--kv-lens=int12.npy",
        ),
        /int12\.npy \(1, 2\) does not fit \(B, 1, 1, 1\) = \(2, 1, 1, 1\)\n/,
    ],
    [
        "sinks of integers",
        run(...ok, "--sinks=int1.npy"),
        /int64.*only float32, float64, float16 and/,
    ],
    ["sinks from nowhere", run(...ok, "--sinks=auto"), /auto: cannot be opened/],
    ["a sink of NaN", run(...ok, "--sinks=nan"), /--sinks: 'nan' is not a finite number/],
    ["slopes too many", run(...ok, "--alibi=1,2"), /--alibi: 2 values for 1 head\n/],
    ["a slope that is a word", run(...ok, "--alibi=steep"), /steep: cannot be opened/],
    [
        "slopes of a batch",
        run(...inputs("heads3.npy"), "-o", "o.npy", "--alibi=1,x,2"),
        /'x' is not/,
    ],
    ["past keys alone", run(...ok, "--past-k=x.npy"), /--past-v is missing/],
    ["past values alone", run(...ok, "--past-v=x.npy"), /--past-k is missing/],
    [
        "a past of other columns",
        run(...ok, "--past-k=d5.npy", "--past-v=x.npy"),
        /past K \(6, 5\) and K \(6, 4\) do not fit together: 5 and 4 columns/,
    ],
    [
        "a past of other heads",
        run(...ok, "--past-k=heads2.npy", "--past-v=heads2.npy"),
        /past K .* 2 and 1 heads/,
    ],
    [
        "a past of other rows",
        run(...ok, "--past-k=m7.npy", "--past-v=x.npy"),
        /past K \(7, 4\) and past V \(6, 4\) do not fit together: 7 and 6 rows/,
    ],
    [
        "a past aligned bottom-right",
        run(...ok, "--past-k=x.npy", "--past-v=x.npy", "--causal=bottom-right"),
        /past \(6\) contradicts the bottom-right alignment/,
    ],
    [
        "a present that fails",
        run(...ok, "--present-k=p.npy", "--present-v=none/p.npy"),
        /none\/p\.npy: cannot be written/,
    ],
    ["one name for O and a present", run(...ok, "--present-k=o.npy"), /named for two outputs/],
    [
        "a wrong mask to compare",
        ["compare", ...inputs(), "--mask=mask57.npy"],
        /does not broadcast/,
    ],
    [
        "wrong lengths to compare",
        ["compare", ...inputs(), "--kv-lens=9"],
        /^attn: softmax: .*9 keys/,
    ],
    ["an unknown tier", run(...ok, "--cpu", "avx1024"), /unknown tier 'avx1024' \(here are /],
    ["a seed that is none", run(...ok, "--seed", "x"), /--seed: 'x' is not a whole number/],
    ["a negative time", ["compare", ...inputs(), "--time", "-1"], /--time: -1 is outside/],

    ["an unknown backend", ["run", "fast", ...ok], /unknown backend 'fast'/],
    ["two backends in one", ["run", "softmax,linear", ...ok], /unknown backend 'softmax,linear'/],
    [
        "an unknown backend in a list",
        ["compare", ...inputs(), "--backends", "softmax,fast"],
        /unknown backend 'fast'/,
    ],
    ["a backend twice", ["compare", ...inputs(), "--backends", "softmax,softmax"], /named twice/],
    ["an empty backend", ["compare", ...inputs(), "--backends", "softmax,"], /unknown backend ''/],
    ["an unknown backend to bench", ["bench", "--backend", "fast"], /unknown backend 'fast'/],

    [
        "an unknown parameter",
        ["run", "sparse", ...ok, "--set", "blocks=4"],
        /'sparse' has no parameter 'blocks' \(did you mean block\?\)/,
    ],
    [
        "a parameter with two letters changed",
        ["compare", ...inputs(), "--set", "presicion=int8"],
        /none of the backends has a parameter 'presicion' \(did you mean precision\?\)/,
    ],
    [
        "a parameter that is like none",
        ["run", "sparse", ...ok, "--set", "temperature=4"],
        /'sparse' has no parameter 'temperature' \(see attn list\)/,
    ],
    [
        "a precision that there is not",
        ["run", "softmax", ...ok, "--set", "precision=int4"],
        /'precision': 'int4' is not one of auto, f32, bf16, bf16x3, int16, int8/,
    ],
    [
        "a precision of a backend that has none",
        ["run", "linear", ...ok, "--set", "precision=int8"],
        /'linear' has no parameter 'precision'/,
    ],
    [
        "a parameter of nobody",
        ["compare", ...inputs(), "--set", "blocks=4"],
        /none of the backends has a parameter/,
    ],
    [
        "a parameter of another",
        ["compare", ...inputs(), "--set", "softmax.block=4"],
        /'softmax' has no parameter/,
    ],
    [
        "a parameter of an absent one",
        ["compare", ...inputs(), "--backends=softmax", "--set", "sparse.block=4"],
        /not one of/,
    ],
    ["a setting without a value", run(...ok, "--set", "block"), /'block' is not of the form/],
    ["a setting without a name", run(...ok, "--set", "=4"), /not of the form/],
    [
        "a parameter out of range",
        ["run", "sparse", ...ok, "--set", "local=0"],
        /local.* 0 is outside/,
    ],
    ["a number out of range", ["run", "sketch", ...ok, "--set", "eps=7"], /eps.* 7 is outside/],
    [
        "a parameter that is no number",
        ["run", "sparse", ...ok, "--set", "block=big"],
        /'big' is not a number/,
    ],
    [
        "a parameter that is neither true nor false",
        ["run", "linear", ...ok, "--set", "retnet=yes"],
        /'yes' is not true or false/,
    ],
    [
        "a parameter that is not whole",
        ["run", "sparse", ...ok, "--set", "block=1.5"],
        /not a whole number/,
    ],
    [
        "an unknown choice",
        ["run", "linear", ...ok, "--set", "feature_map=cosine"],
        /'cosine' is not one of/,
    ],
    ["a seed out of range", ["run", "sketch", ...ok, "--seed=-1"], /seed.*-1 is outside/],
    ...[["--seed=9007199254740993"], ["--set", "seed=9007199254740993"]].map((seed) => [
        `a seed that is no double, ${seed.length} words`,
        ["run", "sketch", ...ok, ...seed],
        /'seed': 9007199254740993 is outside 0\.\.9007199254740991/,
    ]),
    [
        "a wrong parameter to compare",
        ["compare", ...inputs(), "--set", "eps=7"],
        /^attn: sketch: .*outside/,
    ],
    [
        "a pattern without its arrays, said once whose it is",
        ["compare", ...inputs(), "--set=pattern=blocks"],
        /^attn: sparse: pattern blocks needs/,
    ],
    [
        "a number where a file is wanted",
        ["run", "linear", ...ok, "--set=normaliser=off", "--input=state=-0.5"],
        /--input state: -0.5 is a number; state comes from a file/,
    ],
    [
        "numbers where a file is wanted",
        ["run", "linear", ...ok, "--set=normaliser=off", "--input=state=-0.5,-1e-3"],
        /--input state: -0.5,-1e-3 is a list of numbers; state comes from a file/,
    ],
    [
        "a decay that is no logarithm",
        ["run", "linear", ...ok, "--set=rule=gated", "--causal", "--input=decay=0.5"],
        /decay: batch 0, head 0, key 0: above 0; it is the log of what a state keeps/,
    ],
    [
        "more gates than heads",
        ["run", "linear", ...ok, "--set=rule=gated", "--causal", "--input=decay=-0.5,-1e-3"],
        /--input decay: 2 values for 1 key\/value head\n/,
    ],
    ["an array of three to bench", ["bench", "--q", "q.npy"], /--q, --k and --v go together/],
    [
        "sizes beside arrays to bench",
        ["bench", "--n=4", ...inputs("q.npy")],
        /--q, --k and --v have sizes of their own/,
    ],
    ...["n=4", "kv-heads=2", "q=x.npy", "threads=2", "causal", "backward", "input=decay=1"]
        .concat(["set=nope", "set=block=4", "seed=1"])
        .flatMap((option) => [
            ["calibrate", option],
            ["kernels", option],
        ])
        .concat(["backend=softmax", "plugin=nope.so"].map((option) => ["kernels", option]))
        .map(([mode, option]) => [
            `--${mode} --${option}`,
            ["bench", `--${mode}`, `--${option}`],
            new RegExp(`^attn: --${mode} has no --${option.split("=")[0]}\n$`),
        ]),
    ["kernels of an unknown tier", ["bench", "--kernels", "--cpu=nope"], /unknown tier 'nope'/],
    ["a calibration of one", ["bench", "--calibrate", "--cpu=nope"], /unknown tier 'nope'/],
    ["a calibration as CSV", ["bench", "--calibrate", "--csv"], /--calibrate has several tables/],
    [
        "pieces and calibration",
        ["bench", "--calibrate", "--kernels"],
        /--kernels and --calibrate exclude each other\n/,
    ],
    ["a wrong parameter to bench", ["bench", "--n", "8", "--set", "sketch.eps=7"], /outside/],

    [
        "a missing file",
        run(...inputs("none.npy"), "-o", "o.npy"),
        /none\.npy: cannot be opened: No such file/,
    ],
    [
        "a folder as a file",
        run(...inputs("x.npy", "."), "-o", "o.npy"),
        /\.: cannot be (opened|read)/,
    ],
    [
        "d that differs",
        run(...inputs("x.npy", "d5.npy"), "-o", "o.npy"),
        /Q \(6, 4\) and K \(6, 5\).* 4 and 5 columns/,
    ],
    [
        "m that differs",
        run(...inputs("x.npy", "m7.npy"), "-o", "o.npy"),
        /K \(7, 4\) and V \(6, 4\).* 7 and 6 rows/,
    ],
    [
        "heads of K and V",
        run(...inputs("heads2.npy", "heads2.npy"), "-o", "o.npy"),
        /2 and 1 heads/,
    ],
    [
        "H % Hkv",
        run(...inputs("heads3.npy", "heads2.npy", "heads2.npy"), "-o", "o.npy"),
        /\b3\b.*\b2\b/,
    ],
    ["batches", run(...inputs("batch2.npy"), "-o", "o.npy"), /2 and 1 batches/],

    [
        "an output without a folder",
        run(...inputs(), "-o", "none/o.npy"),
        /none\/o\.npy: cannot be written/,
    ],
    ["an output without a name", run(...inputs(), "-o", ""), /the value of --output is empty/],
    ["an archive as output", run(...inputs(), "-o", "new.npz"), /new\.npz: .*ends in \.npy\n$/],
    [
        "an array in an archive",
        run(...inputs(), "-o", "o.npz:x"),
        /o\.npz:x: arrays are written as/,
    ],
    [
        "an array in tensors",
        run(...inputs(), "-o", "o.safetensors:x"),
        /are written as \.npy files/,
    ],
    ["a second archive", run(...ok, "--lse", "l.npz"), /l\.npz: arrays are written as \.npy files/],
    ["weights in an archive", run(...ok, "--weights=w.npz:w"), /w\.npz:w: arrays are written as/],
    [
        "an archive of vectors",
        ["embed", "text.txt", "--dim=4", "-o", "x.npz"],
        /x\.npz: arrays are written as/,
    ],
    [
        "an archive of a mask",
        ["layout", "sparse", "--n=8", "-o", "m.npz"],
        /m\.npz: arrays are written as/,
    ],
    ["an output by name without one", run(...inputs(), "-o", "out="), /'out=' names no file/],
    ["an output that is a folder", run(...inputs(), "-o", "folder"), /names a folder/],
    ["an output without a name", run(...inputs(), "-o", "folder/"), /names a folder/],
    [
        "one name for two outputs",
        run(...ok, "--lse", "o.npy"),
        /o\.npy is named for two outputs\n$/,
    ],
    [
        "a second output that fails",
        run(...ok, "--lse", "none/l.npy"),
        /none\/l\.npy: cannot be written/,
    ],
    [
        "a failure beside an old file",
        run(...inputs(), "-o", "old.npy", "--lse", "none/l.npy"),
        /cannot be written/,
    ],

    ["n of 0", ["bench", "--n", "0"], /--n: 0 is outside/],
    ["d of 0", ["bench", "--d", "8,0"], /--d: 0 is outside/],
    ["an empty list", ["bench", "--n="], /the value of --n is empty; it takes N,...\n/],
    ["sizes that overflow", ["bench", "--n=1099511627776", "--d=1099511627776"], /^attn: /],

    ["no text", ["embed", "--dim", "4", "-o", "o.npy"], /TEXT\.txt is missing/],
    [
        "a missing text",
        ["embed", "none.txt", "--dim", "4", "-o", "o.npy"],
        /none\.txt: cannot be opened/,
    ],
    ["an empty text", ["embed", "empty.txt", "--dim", "4", "-o", "o.npy"], /has no word/],
    ["a blank text", ["embed", "blank.txt", "--dim", "4", "-o", "o.npy"], /has no word/],
    ["no dimension", ["embed", "text.txt", "-o", "o.npy"], /--dim is missing/],
    [
        "a dimension of 1",
        ["embed", "text.txt", "--dim", "1", "-o", "o.npy"],
        /--dim: 1 is outside 2 to/,
    ],

    ["a missing plugin", ["list", "--plugin", "none.so"], /none\.so/],
    ["a text as a plugin", ["list", "--plugin", "text.txt"], /text\.txt/],
];

describe("wrong command lines", () => {
    for (const [name, args, says] of commands) {
        test(name, () => refuse({}, (folder) => attn(args, folder), says));
    }
});
