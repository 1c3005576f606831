/** The example that the page opens with. */

export const opening = {
    preset: "lis-softmax",
    question: "17 80 23 45 120 31 64 19 101 52",
};

/** Heads of the language model, as they read one sentence. */
export const languagePreset = "text-softmax";
export const languageSentence = "In the beginning God created the heaven and the earth.";
export const languageColumns = 32; // of a head
export const languageLayer = 1; // of those that the model has, counted from 1
