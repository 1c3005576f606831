/** Words of the cards of figures.html, which are made when it is built. */

export const gallery = {
    counts: (holds: number, fails: number, undecided: number, shown: number) =>
        `Of ${holds + fails + undecided} statements of the papers, each judged within its own premises, ${holds} hold and ${fails} fail; of ${undecided} the numbers decide nothing. ${shown} figures stand as the paper draws them, without a verdict.`,
    ownCounts: (holds: number, fails: number, undecided: number) =>
        `Of ${holds + fails + undecided} claims of the library's own ${holds} hold, ${fails} fail and ${undecided} stay open.`,
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
