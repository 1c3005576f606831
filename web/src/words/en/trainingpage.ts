/** Words of training.html, which are put in when it is built. */

export const training = {
    description:
        "Small transformers with softmax and with linear attention learn the same task in your browser",
    documentTitle: "libattn: models learn in this page",
    title: "Models learn in this page",
    intro: "Two small transformers, one with softmax and one with linear attention, learn the same task from the same samples: each in a thread of its own, by the steps of the command line.",
    training: "Training",
    task: "Task",
    seed: "Seed",
    train: "Train",
    again: "Begin anew",
    loss: "Loss",
    answers: "Right answers",
    recorded:
        "Grey: a run that was recorded with seed 1, softmax as a line and linear attention dashed. Train draws yours over it.",
    command: "Command line",
    copy: "Copy",
};
