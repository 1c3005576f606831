/** Words of the cards of figures.html, which are made when it is built. */

export const gallery = {
    counts: (all: number, holds: number, fails: number, undecided: number) =>
        `Of ${all} claims ${holds} hold at these sizes and ${fails} fail; of ${undecided} the numbers decide nothing.`,
    run: "Run it yourself",
    takesHours: "It takes hours: the command line goes on where it was stopped.",
    measured: (host: string, tier: string) =>
        `These times are of ${host}, with ${tier} kernels: another machine takes others.`,
    howMade: "How it was made",
    /** What the library says, in this language. */
    ofLabs: (text: string) => text,
};
