// What is asked of `./dev bench --peers`; refused, where nobody can do it, as soon as this module is loaded. run.sh does
// so by itself before it installs anything.
//
// usage: node options.mjs [--quick] [--seconds S] [--newest | --own] [--against COMMIT] [FAMILY or ROW...]

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { families, selectRows } from "../rows/rows.mjs";

const MOST_SECONDS = 3600;

/** parseArgs takes a word that begins with a dash for no option's value; here it is one, and refused as such. */
function withValues(words) {
    const args = [];
    for (let at = 0; at < words.length; at++) {
        if (words[at] === "--") return [...args, ...words.slice(at)];
        const has = /^--(seconds|against)$/.test(words[at]) && at + 1 < words.length;
        args.push(has ? `${words[at]}=${words[++at]}` : words[at]);
    }
    return args;
}

function isCommit(text) {
    const verify = ["rev-parse", "--quiet", "--verify", `${text}^{commit}`];
    return text !== "" && spawnSync("git", verify, { cwd: import.meta.dirname }).status === 0;
}

/** Rounds, and seconds for each contender in each row; the families, and against which peers. */
function readOptions() {
    const { values, positionals: words } = parseArgs({
        args: withValues(process.argv.slice(2)),
        allowPositionals: true,
        options: {
            quick: { type: "boolean" },
            seconds: { type: "string" },
            newest: { type: "boolean" },
            own: { type: "boolean" },
            against: { type: "string" },
        },
    });
    const seconds = Number(values.seconds ?? (values.quick ? 0.2 : 4.8));
    if (!(seconds > 0 && seconds <= MOST_SECONDS))
        throw new Error(
            `--seconds ${values.seconds}: not a number above 0 and up to ${MOST_SECONDS}`,
        );
    if (values.newest && values.own)
        throw new Error("--newest is of peers, which --own leaves out");
    if (values.against !== undefined && !isCommit(values.against))
        throw new Error(`--against ${values.against || "''"}: this clone has no such commit`);
    const unknown = words.filter((word) => selectRows([word]).length === 0);
    const names = unknown.map((word) => word || "''");
    const all = families.map(({ id }) => id).join(", ");
    if (names.length > 0)
        throw new Error(`no family or row is called ${names.join(" or ")}; families: ${all}`);
    return { ...values, seconds, rounds: values.quick ? 2 : 6, families: selectRows(words) };
}

function optionsOrEnd() {
    try {
        return readOptions();
    } catch (error) {
        console.error(`bench: ${error.message}`);
        return process.exit(2);
    }
}

export const options = optionsOrEnd();
