import type { training as english } from "../en/trainingpage";

export const training: Record<keyof typeof english, string> = {
    description:
        "Kleine Transformer mit Softmax und mit linearer Attention lernen dieselbe Aufgabe im eigenen Browser",
    documentTitle: "libattn: Modelle lernen in dieser Seite",
    title: "Modelle lernen in dieser Seite",
    intro: "Zwei kleine Transformer, einer mit Softmax und einer mit linearer Attention, lernen dieselbe Aufgabe an denselben Beispielen: jeder in einem eigenen Thread, mit den Schritten der Kommandozeile.",
    training: "Training",
    task: "Aufgabe",
    seed: "Seed",
    train: "Trainieren",
    again: "Neu beginnen",
    loss: "Verlust",
    answers: "Richtige Antworten",
    recorded:
        "Grau: ein aufgezeichneter Lauf mit Seed 1, Softmax als Linie und lineare Attention gestrichelt. Trainieren zeichnet den eigenen darüber.",
    command: "Kommandozeile",
    copy: "Kopieren",
};
