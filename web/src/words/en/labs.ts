/** Words that the program of labs.html puts into it. */

type Noun = [one: string, many: string];

export const labs = {
    figure: "the figure",
    worker: ["worker", "workers"] as Noun,
    point: ["point", "points"] as Noun,
    /** Of how many, after “of”. */
    points: ["point", "points"] as Noun,
    trial: ["trial", "trials"] as Noun,
    hour: ["hour", "hours"] as Noun,
    atMost: (workers: string) => `${workers} at most`,
    grid: (points: string, axis: string, from: string, to: string) =>
        `${points}, ${axis} from ${from} to ${to}.`,
    withInterval: (label: string) => `${label}, with its interval`,
    outside: "outside of the premises",
    parameters: "Parameters",
    over: (y: string, x: string) => `${y} over ${x}`,
    doneOf: (done: number, points: string) => `${done} of ${points}`,
    left: (time: string) => `about ${time} left`,
    long: "long",
    about: (time: string) => `about ${time}`,
    warning: (trials: string, time: string) => `${trials} take ${time}: Run again begins them`,
    finished: (points: string, time: string) => `${points} in ${time}`,
    stopped: (points: string) => `stopped; ${points} kept`,
    outdated: "the settings have changed since: these are the numbers of before",
    range: (low: string, high: string) => `${low} to ${high}`,
    noNumber: "this is not a number",
    isOutside: (value: string, min: string, max: string) => `${value} is outside ${min} to ${max}`,
    notWhole: (value: string) => `${value} is not a whole number`,
    wrongSeed: "a seed is a whole number from 0 on",
    largestSeed: (most: bigint) => `the largest seed is ${most}`,
    /** What the library says, in this language. */
    ofLabs: (text: string) => text,
};
