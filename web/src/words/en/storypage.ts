/** Words of story.html, which are put in when it is built. */

export const story = {
    description:
        "Attention in ten steps: one row of softmax, what each approximation drops, where each fails, what it costs",
    documentTitle: "libattn: attention in ten steps",
    title: "Attention in ten steps",
    intro: "One row of softmax, what each approximation of it drops, where each fails, and what all of them cost. Every number is computed here, on what you type.",
    steps: "Steps",
    one: "1. One token asks",
    oneText:
        "Every token has three vectors: what it asks, the query; what it is found by, the key; and what it tells, the value. Here they come from a head of a trained model, which finds the longest rising run in these numbers. Those of a text of yours are made of its letters and places, and nothing in them is trained. A key’s score is its product with the query, q·k, over √d: high where the vectors are alike.",
    text: "Text",
    ownText: "a trained head: type a text of your own",
    asks: "Who asks:",
    whoAsks: "Who asks",
    two: "2. Scores become shares",
    twoText:
        "Softmax takes e to the power of each score and divides by their sum. What comes out is positive and adds up to 1, and the answer is the mean of the values by these shares. Scores that are larger by a factor make the largest share larger: try it.",
    times: "Scores times",
    three: "3. Every token asks every token",
    threeText:
        "A row for each token that asks, a column for each that is asked. Where a token may see only what came before, as in a model that writes, half of them is left; but twice the text is four times the shares either way. This is what all that follows is about.",
    causal: "No looking ahead",
    heatmap: "heatmap",
    allShares: "Shares of all tokens",
    sharesSparse: "Shares of all tokens by sparse attention",
    sharesLinear: "Shares of all tokens by linear attention",
    sharesSketch: "Shares of all tokens by a sketch",
    four: "4. Look at fewer keys",
    fourText:
        "Sparse attention keeps the keys near by and one in each block, and drops all others: some L√L pairs instead of L². The pale bars are softmax’s shares. What is dropped has none, and what is kept has more.",
    near: "Blocks near by that are kept:",
    five: "5. Add up first",
    fiveText:
        "Where e^(q·k) is replaced by φ(q)·φ(k), the sum over the keys can be taken once, for all queries: a state of one size, however long the text. Its shares follow another function than softmax’s, most often a flatter one.",
    map: "φ, the feature map",
    six: "6. Shorten the vectors",
    sixText:
        "Random mixtures of columns keep products right on average. A sketch takes fewer of them than there were columns: each key is shorter, each score a little wrong. The fewer, the more.",
    left: "Numbers that are left:",
    seven: "7. Where sparse fails",
    sevenText:
        "A needle in a haystack: the last query asks for one key of 128, which lies neither near nor at a place that the pattern keeps. Softmax gives it nearly all, sparse never sees it and answers with hay.",
    eight: "8. Where linear fails",
    eightText:
        "64 tokens are to be copied, and the state has 16 rows: it holds 16 directions and mixes the rest. Softmax keeps all keys, and does not mind.",
    nine: "9. Where a sketch fails",
    nineText:
        "One column of 64 is thirty times as large as the others and the same for all keys. Softmax does not change by it; a sketch errs by the length of the vectors, and that is this column’s.",
    ten: "10. What it costs",
    tenText:
        "From 64 tokens to a million. Each doubling of the length costs exact attention four times as much, linear attention twice as much. The table shows who saves what at the length that you choose: a method that keeps a fixed share of the features saves a fixed share, however long the text.",
    length: "Length:",
    playground: "index.html",
    goOn: "Go on with this text and these settings",
    oneName: "One token asks",
    twoName: "Scores become shares",
    threeName: "Every token asks every token",
    fourName: "Look at fewer keys",
    fiveName: "Add up first",
    sixName: "Shorten the vectors",
    sevenName: "Where sparse fails",
    eightName: "Where linear fails",
    nineName: "Where a sketch fails",
    tenName: "What it costs",
};
