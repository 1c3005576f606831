/** Names of presets, and what is to be seen in each and why. */

export const presets = {
    trained: "Trained heads",
    made: "Made by hand",
    broken: "Break it",
    /** On the first screen. */
    featured: {
        "lis-softmax": "Looks things up",
        "text-softmax": "Reads English",
        "arithmetic-softmax": "Arithmetic",
        needle: "Finds the needle",
    },
    unknown: (id: string) => `The link asks for the example “${id}”, which there is not.`,
    myText: "My text…",
    myArrays: "My Q, K, V…",
    headlines: {
        trained: "A trained model looks things up. Three shortcuts try to copy it.",
        made: "A head made by hand does one thing. Three shortcuts try to copy it.",
        broken: "An input that something fails on. See what, and why.",
        own: "Exact attention, and three shortcuts, on your own input.",
    },
    text: "Untrained vectors: words mostly match themselves.",
    files: "Your own queries, keys and values. They stay on this computer.",
    of: {
        subsequence: {
            name: "Subsequence",
            why: "To find the longest rising run in “17 80 23 45 …”, this head reads its numbers again in order: the line of strong squares.",
        },
        language: {
            name: "English, previous token",
            why: "A small language model reads a sentence: this head gives most of its weight to the token before, and without it the model foretells much worse.",
        },
        arithmetic: {
            name: "Arithmetic",
            why: "To work out 3 + 4 * 2 (modulo 5) step by step, this head looks at one operator at a time: the strong columns.",
        },
        subsequenceLinear: {
            name: "Subsequence, linear",
            why: "The longest increasing subsequence of six numbers, learned with linear attention, whose error against softmax is no failure here: with these weights it answers 98 of 100 questions right.",
        },
        subsequenceSparse: {
            name: "Subsequence, sparse",
            why: "The longest increasing subsequence of six numbers, learned with sparse attention: it answers 99 of 100 questions right without the keys that its pattern leaves out.",
        },
        previous: {
            name: "Previous token",
            why: "Each query is the code of the place before its own, each key that of its place, so that all weight is on the token before: a band of keys is enough, and elu+1 spreads the weight over all of them.",
        },
        induction: {
            name: "Induction",
            why: "Each query is the code of its token, each key that of the token before it: the weight is on what followed a token when it came before, and so the second half of the text predicts itself.",
        },
        copy: {
            name: "Copy",
            why: "16 slots ask for 16 tokens one by one, by orthogonal keys, of which there are no more than columns: linear attention with relu copies, too, to four digits.",
        },
        sink: {
            name: "Sink",
            why: "All queries share a direction with the first key: a head with nothing to say puts its weight there, and what drops the first key changes every row.",
        },
        needle: {
            name: "Needle in a haystack",
            why: "One key of 128 is what the last query asks for, and it lies neither near nor at a global place: sparse never sees it, and answers with hay.",
        },
        saturated: {
            name: "Saturated state",
            why: "64 tokens are to be copied with keys of 16 columns, more than can be orthogonal: linear's state of 16 rows mixes what it holds and the copy fails, while softmax keeps all keys.",
        },
        identical: {
            name: "Identical keys",
            why: "All keys are the same, so that the answer is the mean of all values whatever a query asks: linear and sketch are exact for once, and sparse has the mean of the few it keeps.",
        },
        outliers: {
            name: "Outlier channels",
            why: "One column of 64 is thirty times as large as the others and the same for all keys: softmax does not change, as it adds the same to all logits of a row, but a sketch errs by the length of the vectors, and linear sees that column alone.",
        },
        repeated: {
            name: "A repeated token",
            why: "After one answer comes the same other token again and again, at a logit lower by log 127: each repetition takes its share until the last row has half of the answer left, and it is softmax itself that fails.",
        },
        normaliser: {
            name: "Normaliser near zero",
            why: "For each key there is one that points the other way: without an exponential weights are signed, and linear's normaliser is their sum, nothing, by which every row is divided.",
        },
    },
};
