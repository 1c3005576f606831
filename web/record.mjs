// What the page of training opens with, in grey: a run of each of its tasks, with the page's settings and its first
// seed, as src/training/recorded.json. `node web/record.mjs` takes minutes.

import { writeFile } from "node:fs/promises";
import { createStudy } from "libattn-labs/training";

const [seed, each, tests] = [1, 50, 1000]; // steps between two points, test questions
const attentions = ["softmax", "linear"];
/** As src/training/tasks.ts has them, which a test holds these to. */
const model = { width: 16, layers: 2, heads: 2, batch: 64, samples: 400, rate: 0.008 };
const tasks = {
    arithmetic: { task: "arithmetic", size: 2, modulus: 5, ...model },
    lis: { task: "lis", size: 5, ...model },
};

async function record(options) {
    const study = await createStudy(options);
    const [losses, answers] = [[], []];
    for (let isOver = false; !isOver;) {
        const some = study.train(each);
        const { answers: right, done } = study.score(tests);
        if (some.length > 0) losses.push([study.step, rounded(mean(some))]);
        answers.push([study.step, rounded((100 * right) / tests)]);
        isOver = done || some.length < each || study.step >= study.about.steps;
    }
    study.dispose();
    return { losses, answers };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (value) => Number(value.toPrecision(3));

const recorded = {};
for (const [id, options] of Object.entries(tasks)) {
    recorded[id] = { seed, options, runs: {} };
    for (const attention of attentions)
        recorded[id].runs[attention] = await record({ ...options, attention, seed });
}
const file = new URL("src/training/recorded.json", import.meta.url);
await writeFile(file, `${JSON.stringify(recorded)}\n`);
