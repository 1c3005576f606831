import type { story as english } from "../en/story";

export const story: typeof english = {
    save: "Speichern",
    tooLong: (tokens, most) =>
        `Dieser Text hat ${tokens}, und die Geschichte höchstens ${most}: bitte kürzen`,
    shares: ["Anteil", "Anteile"],
    score: "Score",
    share: "Anteil",
    key: "Key",
    keyNumber: (key) => `Key ${key}`,
    asks: (token, number) => `${token}, Token ${number}`,
    bars: (backend, what, largest) => `${backend}: ${what} jedes Keys, am größten bei ${largest}`,
    highest: (token) => `Am höchsten: ${token}, `,
    largest: (token) => `${token} hat den größten Anteil, `,
    nineTenths: (tokens) =>
        `; ${tokens} ${tokens === 1 ? "Token hat" : "Token haben"} neun Zehntel von allem.`,
    pairs: (all) => [`Von ${all} Paaren bleiben `, ". "],
    off: ["Die Antwort ist ", " ihrer Länge von der von Softmax entfernt."],
    attention: "Attention",
    operations: "Operationen",
    memory: "Speicher",
    howFar: "wie weit die Antwort daneben ist",
    twice: (shares) => `. Doppelt so lang: ${shares}.`,
};
