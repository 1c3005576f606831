/** Words of the cards of figures.html, which are made when it is built. */

const verdicts = (holds: number, fails: number, undecided: number) =>
    `${holds} ${holds === 1 ? "holds" : "hold"}, ${fails} ${fails === 1 ? "fails" : "fail"}, ${undecided} ${undecided === 1 ? "is" : "are"} undecided`;

export const gallery = {
    counts: (holds: number, fails: number, undecided: number, shown: number) =>
        `${holds + fails + undecided} statements of the papers are judged, each within its own premises: ${verdicts(holds, fails, undecided)}. ${shown} figures are drawn as in the papers, without a verdict.`,
    ownCounts: (holds: number, fails: number, undecided: number) =>
        `Of the library's own ${holds + fails + undecided} claims, ${verdicts(holds, fails, undecided)}.`,
    claims: "All statements, a square each",
    show: "Show",
    all: "all",
    own: "The library's own claim:",
    beyond: "Beyond the paper:",
    run: "Run it yourself",
    takesHours: "It takes hours: the command line goes on where it was stopped.",
    measured: (host: string, tier: string) =>
        `These times are of ${host}, with ${tier} kernels: another machine takes others.`,
    howMade: "How it was made",
    /** What the library says, in this language. */
    ofLabs: (text: string) => text,
};
