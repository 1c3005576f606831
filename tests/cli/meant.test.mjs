// An unknown name is answered with the one that was probably meant.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { attn, succeed } from "./command.mjs";
import { ok, refuse } from "./wrong.mjs";

const bench = ["bench", "--n=8", "--time=0"];
const runOf = (backend, ...args) => ["run", backend, ...ok, ...args];
const separation = ["lab", "run", "separation", "-o", "out"];

/** [what, arguments, what the line says, at its end where nothing was meant] */
const cases = [
    [
        "a letter too few in a command",
        ["benc"],
        /unknown command 'benc' \(did you mean bench\?\)\n/,
    ],
    ["a command in capitals", ["Run"], /\(did you mean run\?\)\n/],
    ["two letters swapped", ["lsit"], /\(did you mean list\?\)\n/],
    ["a command of lab", ["lab", "trian"], /lab: unknown command 'trian' \(did you mean train\?\)/],
    [
        "an option before commands",
        ["--verison"],
        /unknown option '--verison' .*mean --version\?\)\n/,
    ],
    ["another one", ["--json"], /unknown option '--json' before a command \(see attn --help\)\n/],
    ["a command to help with", ["help", "rnu"], /unknown command 'rnu' \(did you mean run\?\)/],
    ["no command at all", ["frobnicate"], /'frobnicate' \(see attn --help\)\n/],

    ["a backend to run", runOf("sofmax"), /unknown backend 'sofmax' \(did you mean softmax\?\)\n/],
    ["a backend in capitals", runOf("Sketch"), /\(did you mean sketch\?\)\n/],
    ["the beginning of a backend", runOf("soft"), /\(did you mean softmax\?\)\n/],
    ["a backend to list", ["list", "liner"], /unknown backend 'liner' \(did you mean linear\?\)\n/],
    [
        "a backend in a list",
        [...bench, "--backend=linear,sprase"],
        /'sprase' \(did you mean sparse\?\)/,
    ],
    ["a backend to layout", ["layout", "spares"], /\(did you mean sparse\?\)/],
    ["a backend to check", ["check", "softmac"], /\(did you mean softmax\?\)/],
    ["no backend's name", runOf("dense"), /unknown backend 'dense' \(see attn list\)\n/],
    [
        "a backend of --set",
        [...bench, "--set=linar.rule=delta"],
        /--set: 'linar' is not one of the backends that run \(did you mean linear\?\)\n/,
    ],
    [
        "a backend of --set that does not run",
        [...bench, "--backend=softmax", "--set=linear.rule=delta"],
        /'linear' is not one of the backends that run\n/,
    ],

    ["an option", [...bench, "--head=2"], /unknown option '--head=2' \(did you mean --heads\?\)/],
    ["an option, misspelt", [...bench, "--bakend=linear"], /\(did you mean --backend\?\)/],
    ["an option with _", runOf("softmax", "--kv_lens=3"), /\(did you mean --kv-lens\?\)/],
    ["an option in capitals", [...bench, "--N=3"], /'--N=3' \(did you mean --n\?\)/],
    ["the option help", [...bench, "--hlep"], /\(did you mean --help\?\)/],
    ["no option's name", [...bench, "--quick"], /'--quick' \(see attn bench --help\)\n/],

    [
        "a parameter",
        runOf("sparse", "--set=blok=4"),
        /backend 'sparse' has no parameter 'blok' \(did you mean block\?\)\n/,
    ],
    [
        "a parameter of several backends",
        [...bench, "--set=patern=lsh"],
        /none of the backends has a parameter 'patern' \(did you mean pattern\?\)\n/,
    ],
    [
        "a value of a parameter",
        runOf("linear", "--set=rule=detla"),
        /parameter 'rule': 'detla' is not one of [a-z, ]*delta[^(]* \(did you mean delta\?\)\n/,
    ],
    [
        "a value for one of several backends",
        [...bench, "--set=sketch.method=gausian"],
        /'method': 'gausian' is not one of gaussian, [^(]* \(did you mean gaussian\?\)\n/,
    ],
    [
        "no value of a parameter",
        runOf("linear", "--set=rule=fast"),
        /parameter 'rule': 'fast' is not one of [^(]*\n/,
    ],

    [
        "an input",
        runOf("softmax", "--input=bais=x.npy"),
        /no input 'bais'; .*\(did you mean bias\?\)\n/,
    ],
    [
        "an input with -",
        runOf("softmax", "--input=kv-lengths=1"),
        /\(did you mean kv_lengths\?\)\n/,
    ],
    [
        "an input of a backend's own",
        runOf("linear", "--input=dekay=x.npy"),
        /\(did you mean decay\?\)/,
    ],
    [
        "an output",
        runOf("softmax", "-o", "les=l.npy"),
        /no output 'les'; .*\(did you mean lse\?\)\n/,
    ],
    ["no input's name", runOf("softmax", "--input=gate=x.npy"), /no input 'gate'; [^(]*\n/],
    [
        "a gradient",
        runOf("softmax", "--grad=out=x.npy", "--grad=quarry=d.npy"),
        /no gradient of 'quarry'; .*\(did you mean query\?\)\n/,
    ],

    ["an element type", [...bench, "--dtype=f23"], /'f23' is none of .*\(did you mean f32\?\)\n/],
    [
        "a lab",
        ["lab", "run", "seperation", "-o", "out"],
        /'seperation': .*\(did you mean separation\?\)/,
    ],
    ["a panel", [...separation, "--panel=3A"], /no panel '3A': .*\(did you mean 3a\?\)\n/],
    [
        "a method of sketch",
        ["sketch", "x.npy", "--method=amss", "-o", "y.npy"],
        /\(did you mean ams\?\)/,
    ],
];

describe("did you mean", () => {
    for (const [name, args, says] of cases)
        test(name, () => refuse({}, (folder) => attn(args, folder), says));
});

test("help of a command is what the command says with --help", () => {
    for (const command of [["run"], ["bench"], ["lab", "train"], ["lab"]])
        assert.equal(succeed(["help", ...command]), succeed([...command, "--help"]));
    assert.equal(succeed(["help"]), succeed(["--help"]));
});
