/** Words that the program of training.html puts into it. */

export const training = {
    tasks: {
        arithmetic: {
            name: "Arithmetic, 2 operators modulo 5",
            about: "An expression is worked out one operator at a time: 3 + 4 * 2 = 3 + 3 = 1.",
        },
        lis: {
            name: "Increasing subsequence, 5 numbers",
            about: "After the numbers, the length of the longest increasing subsequence that ends at each, then the largest of them. It takes longer.",
        },
    },
    train: "Train",
    pause: "Pause",
    wrongSeed: (most: number) => `a seed is a whole number from 0 to ${most}`,
    /** Of axes. */
    axes: { steps: "steps", loss: "loss", answers: "right answers (%)" },
    weights: "Weights",
    steps: "Steps",
    stepOf: (step: number, all: number) => `${step} of ${all}`,
    loss: "Loss of the last step",
    answers: "Right answers",
    time: "Time of the steps",
    reached: (share: string) => `${share} right after`,
    step: ["step", "steps"] as [string, string],
    verdict: (right: boolean) => ` (the answer is ${right ? "right" : "wrong"})`,
    place: (layer: number, head: number) => `layer ${layer}, head ${head}`,
    weightsOf: (place: string) => `weights of ${place}`,
    theWeights: (attention: string) => `the weights of ${attention}`,
    notStarted: "the worker did not start",
};
