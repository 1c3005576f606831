/** Words that the story's program puts into it. */

export const story = {
    save: "Save",
    tooLong: (tokens: string, most: number) =>
        `This text has ${tokens}, and the story ${most} at most: shorten it`,
    shares: ["share", "shares"] as [string, string],
    score: "score",
    share: "share",
    key: "key",
    keyNumber: (key: number) => `key ${key}`,
    asks: (token: string, number: number) => `${token}, token ${number}`,
    bars: (backend: string, what: string, largest: string) =>
        `${backend}: ${what} of each key, the largest ${largest}`,
    highest: (token: string) => `Highest: ${token}, `,
    largest: (token: string) => `${token} has the largest share, `,
    nineTenths: (tokens: number) =>
        `; ${tokens} ${tokens === 1 ? "token has" : "tokens have"} nine tenths of all.`,
    pairs: (all: number) => [`Of ${all} pairs `, " are left. "] as [string, string],
    off: ["The answer is ", " of its length away from softmax’s."] as [string, string],
    attention: "attention",
    operations: "operations",
    memory: "memory",
    howFar: "how far off the answer is",
    twice: (shares: string) => `. Twice as long: ${shares}.`,
};
