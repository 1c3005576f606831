// The commit that is measured. As a program it refuses sources that differ from every commit: nobody could say later what
// such a run measured. Manuals, figures and results may differ.

import { execFileSync } from "node:child_process";
import { join } from "node:path";

const words = ["**/*.md", "**/*.svg", "bench/results/*.json"].map(
    (pattern) => `:(top,exclude,glob)${pattern}`,
);

/** "1945c90", "1945c90-dirty" where sources of the checkout differ from it, "unknown" where there is no git. */
export function commitOf(folder) {
    const git = (...args) =>
        execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
    try {
        const changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ...words);
        return git("describe", "--always") + (changed ? "-dirty" : "");
    } catch {
        return "unknown";
    }
}

/** Of this checkout. */
export const thisCommit = () => commitOf(import.meta.dirname);

if (process.argv[1] === join(import.meta.dirname, "commit.mjs")) {
    const commit = thisCommit();
    if (commit.endsWith("-dirty")) {
        console.error(`bench: a recorded run needs committed sources, and these are ${commit}`);
        process.exit(2);
    }
}
