/** What is learned here: tasks that models of a few thousand weights learn in minutes. */

import type { StudyOptions } from "libattn-labs/training";
import { said } from "./words";

export interface Task {
    id: string;
    name: string;
    about: string;
    /** What the models are asked meanwhile. */
    question: string;
    options: StudyOptions;
}

/** Of all tasks: a small model, and the rate by which it learns fast. */
const model = { width: 16, layers: 2, heads: 2, batch: 64, samples: 400, rate: 0.008 };

export const tasks: readonly Task[] = [
    {
        id: "arithmetic",
        ...said.tasks.arithmetic,
        question: "3 + 4 * 2",
        options: { task: "arithmetic", size: 2, modulus: 5, ...model },
    },
    {
        id: "lis",
        ...said.tasks.lis,
        question: "17 80 23 45 120",
        options: { task: "lis", size: 5, ...model },
    },
];

/** What trains the same model. */
export function commandLine({ options }: Task, attention: string, seed: number): string {
    const { task, size, width, layers, heads, batch, samples, rate, modulus } = options;
    const own = modulus === undefined ? "" : ` --modulus ${modulus}`;
    return (
        `attn lab train ${task} --n ${size}${own} --attention ${attention} --d ${width} --layers ${layers} ` +
        `--heads ${heads} --batch ${batch} --samples ${samples} --rate ${rate} --seed ${seed} -o ${attention}.study`
    );
}
