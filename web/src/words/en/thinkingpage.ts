/** Words of thinking.html, which are put in when it is built. */

export const thinking = {
    description:
        "How small trained transformers think, token by token, and what their attention looks at",
    documentTitle: "libattn: a trained model thinks",
    title: "A trained model thinks",
    intro: "Small transformers that solve problems step by step: what they say token by token, what each head looks at for it, and what other attention would have made of the same queries, keys and values.",
    model: "Model",
    question: "Question",
    think: "Think",
    thought: "Chain of thought",
    loading: "Loading libattn…",
    back: "Back",
    play: "Play",
    next: "Next",
    tokensRead: "Tokens read",
    heads: "Its heads",
    headsHint:
        "Under the model's own attention, a row for each token that it has read, a column for each token looked at. Choose one to see it large.",
    weight: "weight",
    kept: "What has to be kept",
    keptHint:
        "Bytes for all layers and heads once the tokens up to the line have been read, and as it would go on. A cache of keys and values grows; linear attention's state does not, but for the last few tokens, which wait to be added to it.",
    views: "One head, under each attention",
    viewsHint:
        "The same queries, keys and values. Errors of the output, over all layers and heads: against exact softmax, and against the attention that the model was trained with.",
    command: "Command line",
    copy: "Copy",
    heatmap: "heatmap",
};
