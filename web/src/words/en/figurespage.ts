/** Words of figures.html, which are put in when it is built. */

export const figures = {
    description: "What papers claim about attention, and what came out when it was run",
    documentTitle: "libattn labs: what papers claim",
    title: "What papers claim",
    intro: "The experiments of four papers on attention, each run by this library with the seed and the command that stand beside it: what is claimed, what came out, and whether the one follows from the other.",
    runsHere: "“Run it yourself” computes a figure anew in your browser.",
    nothingLeaves: "Nothing leaves it.",
};
