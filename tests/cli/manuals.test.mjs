// The examples of the backends' manuals, run as a reader would: one shell in an empty folder for each manual.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { isWasi, program, withFiles } from "./command.mjs";

const plugins = join(import.meta.dirname, "..", "..", "plugins");
const manual = (name) => readFileSync(join(plugins, name, "README.md"), "utf8");
const examples = (text) => [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code]) => code);

for (const name of ["softmax", "linear", "sparse", "sketch"])
    test(`the examples of ${name}'s manual run`, { skip: isWasi && "the shell's program" }, () => {
        const code = examples(manual(name));
        assert.ok(code.length > 0);
        withFiles({}, (folder) => {
            const script = `set -e\nattn() { "$ATTN" "$@"; }\n${code.join("\n")}`;
            const env = { ...process.env, ATTN: program };
            const options = { cwd: folder, encoding: "utf8", env };
            const { status, stderr } = spawnSync("bash", ["-c", script], options);
            assert.equal(status, 0, stderr);
            assert.match(stderr, /^(attn: warning: .*\n)*$/);
        });
    });
