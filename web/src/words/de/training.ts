import type { training as english } from "../en/training";

export const training: typeof english = {
    tasks: {
        arithmetic: {
            name: "Rechnen, 2 Operatoren modulo 5",
            about: "Ein Ausdruck wird Operator für Operator ausgerechnet: 3 + 4 * 2 = 3 + 3 = 1.",
        },
        lis: {
            name: "Steigende Teilfolge, 5 Zahlen",
            about: "Nach den Zahlen zu jeder die Länge der längsten steigenden Teilfolge, die mit ihr endet, dann die größte dieser Längen. Das dauert länger.",
        },
    },
    train: "Trainieren",
    pause: "Pause",
    wrongSeed: (most) => `ein Seed ist eine ganze Zahl von 0 bis ${most}`,
    axes: { steps: "Schritte", loss: "Verlust", answers: "richtige Antworten (%)" },
    weights: "Gewichte",
    steps: "Schritte",
    stepOf: (step, all) => `${step} von ${all}`,
    loss: "Verlust im letzten Schritt",
    answers: "Richtige Antworten",
    time: "Zeit der Schritte",
    reached: (share) => `${share} richtig nach`,
    step: ["Schritt", "Schritten"], // after “nach”
    verdict: (right) => ` (die Antwort ist ${right ? "richtig" : "falsch"})`,
    place: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
    weightsOf: (place) => `Gewichte von ${place}`,
    theWeights: (attention) => `den Gewichten von ${attention}`, // after “von”
    notStarted: "der Worker ist nicht gestartet",
};
