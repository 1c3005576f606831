/** The models that can be asked, and what to ask them. */

import { said } from "./words";

export interface Model {
    /** Of its file, too. */
    id: string;
    task: string;
    attention: string;
    name: string;
    /** What is a question, in a sentence. */
    asks: string;
    /** One that it answers. */
    example: string;
}

type Task = keyof typeof said.tasks;

const { expression, words, subsequence } = said.asks;
const six = "17 80 23 45 120 31";

function made(task: Task, attention: string, asks: string, example: string): Model {
    const name = `${said.tasks[task]}, ${attention}`;
    return { id: `${task}-${attention}`, task, attention, name, asks, example };
}

export const models: readonly Model[] = [
    made("arithmetic", "softmax", expression, "3 + 4 * 2"),
    made("arithmetic", "linear", expression, "3 + 4 * 2"),
    made("arithmetic", "sparse", expression, "3 + 4 * 2"),
    made("lis", "softmax", subsequence(10), `${six} 64 19 101 52`),
    made("lis", "linear", subsequence(6), six),
    made("lis", "sparse", subsequence(6), six),
    made("ed", "softmax", words(3, null), "abc acd"),
    made("ed", "linear", words(2, null), "ab ac"),
    made("ed", "sparse", words(2, null), "ab ac"),
    made("ed_local", "softmax", words(3, 2), "abc acd"),
    made("ed_local", "linear", words(2, 1), "ab ac"),
    made("ed_local", "sparse", words(2, 1), "ab ac"),
];
