/** Words that the program of thinking.html puts into it. */

const ask = (what: string) => `It takes ${what}.`;

export const thinking = {
    tasks: {
        arithmetic: "Arithmetic",
        lis: "Increasing subsequence",
        ed: "Edit distance",
        ed_local: "Edit distance, banded",
    },
    asks: {
        expression: ask(
            "an expression of 2 operators + - * / over the numbers 0 to 4, with brackets where you like: it counts modulo 5. It has learned no shorter ones and no product by 0, and answers half of the shorter ones",
        ),
        /** `band`: by how much lengths may differ; null: by any. */
        words: (size: number, band: number | null) =>
            ask(
                `two words, the shorter of 1 to ${size} letters, the longer of at most ${band === null ? size + 2 : `${band} more`}: how far apart are they, where to add or drop a letter costs 2 and to replace one 3? It has learned pairs of different words of which one has ${size}, and gets others wrong`,
            ),
        subsequence: (size: number) =>
            ask(
                `${size} numbers from ${size + 1} to 149: how long is their longest increasing subsequence? It has learned no shorter ones, and gets most of them wrong`,
            ),
    },
    layers: ["layer", "layers"] as [string, string],
    tests: ["test question", "test questions"] as [string, string],
    model: (layers: string, heads: string, width: number, attention: string) =>
        `${layers} of ${heads}, ${width} wide, trained with ${attention} attention`,
    scored: (share: string, tests: string) => `; right in ${share} of ${tests}.`,
    place: (layer: number, head: number) => `layer ${layer}, head ${head}`,
    under: (layer: number, head: number) => `Layer ${layer}, head ${head}, under each attention`,
    own: (name: string) => `${name}: its own`,
    keptByOwn: (backend: string) => `${backend}, its own`,
    notOneByOne: "reads no tokens one by one",
    picture: (name: string) => `${name}: weights by query and key; arrows move`,
    errorAgainstSoftmax: "Error against softmax",
    errorAgainstOwn: "Against the model’s own",
    most: (reading: string) => `most: ${reading}`,
    read: (token: number, last: number, quoted: string) =>
        `Token ${token} of ${last}, ${quoted}, is read`,
    goesOn: ": the question goes on.",
    says: (quoted: string) => `; the model says ${quoted}`,
    wrong: (due: string) => `, which is wrong: ${due} is due`,
    oughtToEnd: ", which is wrong: it ought to have ended before",
    rightAnswer: (answer: string) => `The answer is ${answer}: right.`,
    wrongAnswer: (answer: string, due: string) => `Its answer is ${answer}: wrong, it is ${due}.`,
    /** `what`: the library's words. */
    learned: (what: string) => `It has learned ${what} only.`,
};
