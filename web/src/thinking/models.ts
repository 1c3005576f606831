/** The models that can be asked, and what to ask them. */

export interface Model {
    /** Of its file, too. */
    id: string;
    task: string;
    attention: string;
    name: string;
    /** What is a question. */
    asks: string;
    /** One that it answers. */
    example: string;
}

const expression =
    "an expression of 2 operators + - * / over the numbers 0 to 4, with brackets where you like: it counts modulo 5. It has learned no shorter ones and no product by 0, and answers half of the shorter ones";
const words =
    "two words of 1 to 5 letters: how far apart are they, where a letter more or less costs 2 and another one 3? It has learned pairs of different words of which one has 3, and gets others wrong";
const six = "17 80 23 45 120 31";

function made(
    task: string,
    attention: string,
    title: string,
    asks: string,
    example: string,
): Model {
    const id = `${task}-${attention}`;
    return { id, task, attention, name: `${title}, ${attention}`, asks, example };
}

const subsequence = (size: number) =>
    `${size} numbers from ${size + 1} to 149: how long is their longest increasing subsequence? It has learned no shorter ones, and gets most of them wrong`;

export const models: readonly Model[] = [
    made("arithmetic", "softmax", "Arithmetic", expression, "3 + 4 * 2"),
    made("arithmetic", "linear", "Arithmetic", expression, "3 + 4 * 2"),
    made("arithmetic", "sparse", "Arithmetic", expression, "3 + 4 * 2"),
    made("lis", "softmax", "Increasing subsequence", subsequence(10), `${six} 64 19 101 52`),
    made("lis", "linear", "Increasing subsequence", subsequence(6), six),
    made("lis", "sparse", "Increasing subsequence", subsequence(6), six),
    made("ed", "softmax", "Edit distance", words, "abc acd"),
    made("ed_local", "softmax", "Edit distance, banded", words, "abc acd"),
];
