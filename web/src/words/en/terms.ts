/** What the numbers of panels and rows mean. */

export const terms = {
    error: {
        definition:
            "How far the output O is from exact attention O′, computed in double precision: the root of the sum of squares of all differences, relative to that of O′.",
        unit: "none: 0 is exact, 1 as far off as zeros would be",
    },
    interval: {
        definition:
            "Where the error of all rows lies, by the spread of the rows that were drawn: so in 95 of 100 draws.",
        unit: "none, as the error",
    },
    recall: {
        definition:
            "Of the eight keys that exact attention gives most weight, the share that is among the backend's own eight, or level with them; the mean of the rows of the head that is shown that see more than eight keys.",
        unit: "percent of eight keys: 100 if none is missed",
    },
    dropped: {
        definition:
            "Of exact attention's weights what lies on keys that the backend gives none; the mean of the rows of the head that is shown.",
        unit: "percent of a row's weight",
    },
    time: {
        definition:
            "How long one run of the kernel takes here, in one thread: the median of turns that the backends took one after another, once they were warm.",
        unit: "milliseconds",
    },
    spread: { definition: "The shortest and the longest of these turns.", unit: "milliseconds" },
    gflops: {
        definition:
            "Additions and multiplications that the backend's own formula needs, by the time: what needs fewer can be faster with a smaller number.",
        unit: "10⁹ operations a second",
    },
    kept: {
        definition:
            "Share of the pairs of a query and a key that get a weight. What a mask or the number of keys that count takes away is still among them, as a plan does not know it: so many “at most”.",
        unit: "percent of n queries times m keys, all heads together",
    },
    computed: {
        definition:
            "Share of the pairs that are computed for those that are kept: whole runs of keys, for all queries of a block together.",
        unit: "percent of n queries times m keys, all heads together",
    },
    workspace: {
        definition: "Memory that a run needs beside its inputs and its output, and gives back.",
        unit: "bytes, by powers of 1024",
    },
    guarantee: {
        definition:
            "What is proven of the approximation: how near it comes, and how probably, for any queries and keys. It says nothing where the bound needs more features than there are; the error above is what came of it here.",
    },
    form: {
        definition:
            "How the operations for one head grow with n queries, m keys, d columns of keys and dv of values.",
        unit: "operations, but for a constant",
    },
    kernel: {
        definition:
            "Which code ran: the instructions it uses, and the tile that it computes at a time.",
    },
};

/** As formulas have them. */
export const inFormulas = { operations: "operations", time: "time", pairs: "pairs" };

/** Of a fact that is no parameter's. */
export const chosen = (label: string) => `${label}: what the backend chose for this input.`;

/** Columns of a row's table. */
export const columns = {
    dot: {
        text: "q·k",
        definition: "The query's and the key's product: how far they point the same way.",
        unit: "none",
    },
    logit: {
        text: "logit",
        definition:
            "The product times the scale, as this backend has it: exactly, or by what it makes of query and key. It is told by the weight and the row's log-sum-exp.",
        unit: "none: one more is e times the weight",
    },
    exponential: {
        text: "exp",
        definition: "The exponential of the logit less the row's largest, so that none overflows.",
        unit: "none: 1 for the largest logit",
    },
    product: {
        text: "φ(q)·φ(k)",
        definition:
            "What stands for the exponential: the product of the query's features and the key's, whose sum over all keys can be taken once for all queries.",
        unit: "none",
    },
    weight: {
        text: "weight",
        definition:
            "The part of the key's value that the query takes: what stands before, by its sum.",
        unit: "none: 1 is all, and those of a row sum to 1",
    },
};

export const rowError = {
    definition:
        "How far this row of the output, its weights times the values, is from exact attention's: the root of the sum of squares, relative to the exact row's. These products are in double precision; a run's are not, so that its error, under the picture, may differ where both are of rounding.",
    unit: "none",
};

/** Of what a panel tells in sentences. */
export const sentences = {
    worst: {
        definition:
            "The row of the output that is farthest from exact attention's, relative to its own size, of those that were compared: a click shows its steps.",
    },
    rows: {
        definition:
            "How far rows of the output are from exact attention's, each relative to its own size: the median and the largest of the head that is shown, or the row that is pointed at.",
    },
    cell: {
        definition:
            "A query, a key, and how much of the key's value the query takes, or by how much that differs from the reference: the cell that is pointed at, or the largest.",
        unit: "none: 1 is all of a row",
    },
    shares: {
        definition:
            "Of all that is shown, by size, what lies where query and key are of the same place, and what lies on the key that has most.",
        unit: "percent of all weights or differences in the picture",
    },
};

/** Of columns of what was tried. */
export const tried = {
    flops: {
        definition: "Additions and multiplications that the backend's own formula needs.",
        unit: "operations of one run",
    },
    best: {
        definition:
            "No other setting that was tried is better in cost or error without being worse in the other.",
    },
};

/** Of columns of tokens that come one by one. */
export const streamed = {
    keeps: {
        definition:
            "What the backend has to keep of the tokens that have come, to answer the next: their keys and values, a state, or both.",
        unit: "bytes, by powers of 1024",
    },
    state: {
        definition: "The part of what is kept whose size does not change as tokens come.",
        unit: "bytes, by powers of 1024",
    },
    held: {
        definition:
            "Tokens whose keys and values are kept as they came: all, or those that are not in the state yet.",
        unit: "tokens",
    },
    error: {
        definition:
            "How far the answer to the last token is from exact attention's: the root of the sum of squares, relative to the exact answer's.",
    },
};
