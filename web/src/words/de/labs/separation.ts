/** What the lab of separations says. */

const lab = {
    "What softmax attention tells apart and linear attention does not":
        "Was Softmax-Attention unterscheidet und lineare Attention nicht",
    "arXiv:2310.11685, sections 3, 7, D and F": "arXiv:2310.11685, Abschnitte 3, 7, D und F",
    "D0 and D1 are data sets that differ in one entry alone; F_exp and F_lin are networks of one attention layer, with softmax and with linear attention, then a layer of ReLU with random signs. Success of a trial: F_exp(D1) > 0 and F_lin(D1) = F_exp(D0) = F_lin(D0) = 0 with the same signs; delta is the part of trials that may fail. The paper's figures stand as it draws them, without a verdict; its theorems and lemmas are judged within their premises.":
        "D0 und D1 sind Datensätze, die sich nur in einem Eintrag unterscheiden; F_exp und F_lin sind Netze aus einer Schicht Attention, mit Softmax und mit linearer Attention, und einer Schicht ReLU mit zufälligen Vorzeichen. Erfolg eines Versuchs: F_exp(D1) > 0 und F_lin(D1) = F_exp(D0) = F_lin(D0) = 0 mit denselben Vorzeichen; delta ist der Anteil der Versuche, die misslingen dürfen. Die Abbildungen der Arbeit stehen da, wie sie sie zeichnet, ohne Urteil; ihre Theoreme und Lemmata werden innerhalb ihrer Voraussetzungen beurteilt.",
};

/* ---- figures as the paper draws them ---- */

const figures = Object.fromEntries(
    [
        ["3", "regression", "Regression"],
        ["4", "self-attention", "Self-Attention"],
        ["5", "self-attention", "Self-Attention"],
        ["7", "cross-attention", "Cross-Attention"],
    ].map(([figure, net, german]) => [
        `Figure ${figure} draws how often ${net} with softmax tells D1 from D0 and with linear attention does not. It names no level that the curve reaches.`,
        `Abbildung ${figure} zeigt, wie oft ${german} mit Softmax D1 von D0 unterscheidet und mit linearer Attention nicht. Sie nennt keine Höhe, die die Kurve erreicht.`,
    ]),
);

const small =
    "At the figure's own settings: m is too small for the theorems, as all columns of signs miss D1 with probability (3/4)^m, and d is small, so that the signs of few blocks pass the threshold by themselves.";
const klein =
    "Bei den Einstellungen der Abbildung: m ist für die Theoreme zu klein, da alle Spalten von Vorzeichen D1 mit Wahrscheinlichkeit (3/4)^m verfehlen, und d ist klein, sodass die Vorzeichen weniger Blöcke die Schwelle schon allein überschreiten.";

const drawn = {
    "None: no theorem is about so few tokens and signs. Dashed: what the signs alone make of it for many tokens.":
        "Nichts: Kein Theorem handelt von so wenigen Token und Vorzeichen. Gestrichelt: was die Vorzeichen allein bei vielen Token daraus machen.",
    "At the figure's own settings: with m = floor(log n) columns of signs all of them miss D1 with probability (1/2)^m.":
        "Bei den Einstellungen der Abbildung: Mit m = floor(log n) Spalten von Vorzeichen verfehlen alle D1 mit Wahrscheinlichkeit (1/2)^m.",
    [small]: klein,
    [`${small} b^2 + c^2 is not 1, as Theorem E.4 asks.`]: `${klein} b^2 + c^2 ist nicht 1, wie Theorem E.4 es verlangt.`,
    "The dashed curve is exact for many tokens: the chance that a column of signs fires in D1 and none raises an alarm by itself.":
        "Die gestrichelte Kurve ist bei vielen Token genau: die Wahrscheinlichkeit, dass eine Spalte von Vorzeichen bei D1 anschlägt und keine von allein Alarm gibt.",
};

/* ---- within the premises ---- */

const wide =
    "m = 3.5 log(n/delta) or more, for which all columns of signs miss D1 with probability (3/4)^m < delta/n";
const breit =
    "m von mindestens 3.5 log(n/delta), für das alle Spalten von Vorzeichen D1 mit Wahrscheinlichkeit (3/4)^m < delta/n verfehlen";
const blocks = (d: number) =>
    `; d of ${d} or more, as the signs of fewer blocks pass the threshold by themselves.`;
const bloecke = (d: number) =>
    `; d von mindestens ${d}, da die Vorzeichen weniger Blöcke die Schwelle schon allein überschreiten.`;

const tells = (net: string, where: string) =>
    `For n large enough, ${net} with softmax tells D1 from D0 and with linear attention does not, with probability 1 - delta/poly(n) (${where}).`;
const unterscheidet = (net: string, where: string) =>
    `Für hinreichend großes n unterscheidet ${net} D1 von D0 mit Softmax und mit linearer Attention nicht, mit Wahrscheinlichkeit 1 - delta/poly(n) (${where}).`;

const inside = {
    "Each point within the premises: a 95% interval of its trials at 1 - delta or above counts for it, one below against it. Points are not pooled.":
        "Jeder Punkt innerhalb der Voraussetzungen: Ein 95-%-Intervall seiner Versuche bei 1 - delta oder darüber spricht dafür, eines darunter dagegen. Punkte werden nicht zusammengelegt.",
    "Where m = 1.5 log(n/delta) or more, for which all columns of signs miss D1 with probability (1/2)^m < delta/n; n of 500 or more, as the signs of fewer tokens pass 1/4 by themselves.":
        "Wo m mindestens 1.5 log(n/delta) ist, für das alle Spalten von Vorzeichen D1 mit Wahrscheinlichkeit (1/2)^m < delta/n verfehlen; n von mindestens 500, da die Vorzeichen von weniger Token 1/4 schon allein überschreiten.",
    [`Where a0 < 0.1, a1 >= 1, b^2 + c^2 = 1, b < 0.2 and n = t (d - 2); ${wide}${blocks(66)}`]: `Wo a0 < 0.1, a1 >= 1, b^2 + c^2 = 1, b < 0.2 und n = t (d - 2); ${breit}${bloecke(66)}`,
    [`Where a0 < 0.1, a1 >= 0.7, b + c = 1, b and c >= 0.1 and n = t (d - 2); ${wide}${blocks(66)}`]: `Wo a0 < 0.1, a1 >= 0.7, b + c = 1, b und c >= 0.1 und n = t (d - 2); ${breit}${bloecke(66)}`,
    [`Where a0 < 0.1, a1 > 1 and n = t (d - 1); ${wide}${blocks(17)}`]: `Wo a0 < 0.1, a1 > 1 und n = t (d - 1); ${breit}${bloecke(17)}`,
    [tells("regression", "Lemmas 5.1 to 5.4")]: unterscheidet("Regression", "Lemmata 5.1 bis 5.4"),
    [tells(
        "self-attention with X = I",
        "section E: Theorem E.4 for F_exp(D1), other proofs omitted",
    )]: unterscheidet(
        "Self-Attention mit X = I",
        "Abschnitt E: Theorem E.4 für F_exp(D1), andere Beweise ausgelassen",
    ),
    [tells("self-attention with X = ones", "Theorems 1.1 and 6.2")]: unterscheidet(
        "Self-Attention mit X = Einsen",
        "Theoreme 1.1 und 6.2",
    ),
    [tells("cross-attention", "Theorem 1.2")]: unterscheidet("Cross-Attention", "Theorem 1.2"),
    "Each part at each n: the largest share of what it allows counts for it up to 1 and what float's rounding can add, and against it above; an equality counts both ways.":
        "Jeder Teil bei jedem n: Der größte Anteil dessen, was er erlaubt, spricht bis 1 und dem, was die Rundung von float hinzufügen kann, dafür, darüber dagegen; eine Gleichung zählt in beide Richtungen.",
};

const params = {
    network: "Netz",
    "softmax regression; self-attention with X = I or X = all ones; cross-attention":
        "Softmax-Regression; Self-Attention mit X = I oder X = lauter Einsen; Cross-Attention",
    "tokens n": "Token n",
    "rows of the data; where no whole number of blocks fits, the last is cut":
        "Zeilen der Daten; wo keine ganze Zahl von Blöcken passt, ist der letzte abgeschnitten",
    "dimension d": "Dimension d",
    "columns of the data: 3 or more for self-, 2 or more for cross-attention":
        "Spalten der Daten: mindestens 3 bei Self-, mindestens 2 bei Cross-Attention",
    "width m": "Breite m",
    "columns of random signs y; a fraction is dropped":
        "Spalten zufälliger Vorzeichen y; Nachkommastellen entfallen",
    "by factor C, else log n for regression, max(log(n/delta), 15) for self-, log(n/delta) for cross-attention":
        "nach Faktor C, sonst log n bei Regression, max(log(n/delta), 15) bei Self-, log(n/delta) bei Cross-Attention",
    "failure probability delta": "Ausfallwahrscheinlichkeit delta",
    "what the claim allows; m follows it unless m is set":
        "was die Behauptung erlaubt; m richtet sich danach, wenn es nicht gesetzt ist",
    "the mark in D0; the definitions ask for 0 < a0 < 0.1":
        "die Marke in D0; die Definitionen verlangen 0 < a0 < 0.1",
    "the mark in D1; the definitions ask for 0.7 or more (self-), more than 1 (cross-attention)":
        "die Marke in D1; die Definitionen verlangen mindestens 0.7 (Self-), mehr als 1 (Cross-Attention)",
    "size of the identity blocks; the figures' is 0.2":
        "Größe der Einheitsblöcke; in den Abbildungen 0.2",
    "what the definitions ask for: 1 - c, for X = I sqrt(1 - c^2)":
        "was die Definitionen verlangen: 1 - c, bei X = I sqrt(1 - c^2)",
    "factor C": "Faktor C",
    "m = C log(n/delta), rounded up, where m is not set":
        "m = C log(n/delta), aufgerundet, wo m nicht gesetzt ist",
    "m as the paper's figures have it": "m wie in den Abbildungen der Arbeit",
    "size of the constant column; tau = (c + 0.1) sqrt(log n)":
        "Größe der konstanten Spalte; tau = (c + 0.1) sqrt(log n)",
    trials: "Versuche",
    "independent trials at each point": "unabhängige Versuche an jedem Punkt",
    "rows of A1": "Zeilen von A1",
    "distinct: rows that are the same are asked once; all: n of them":
        "distinct: gleiche Zeilen werden einmal gefragt; all: alle n",
};

const columns = {
    success: "Erfolg",
    "by formula, for many tokens": "nach Formel, bei vielen Token",
    "trials as the statement says": "Versuche, wie die Aussage sagt",
    "what float's rounding can add": "was die Rundung von float hinzufügen kann",
    "part of what is allowed, largest": "größter Anteil am Erlaubten",
    "95% interval": "95-%-Intervall",
    "trials with a decision that rounding can turn":
        "Versuche mit einer Entscheidung, die Rundung kippen kann",
    "trials with a normaliser near 0": "Versuche mit einem Normierer nahe 0",
    "ratio of trials": "Anteil der Versuche",
};

export const separation = { ...lab, ...figures, ...drawn, ...inside, ...params, ...columns };
