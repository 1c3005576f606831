/** What the lab of separations says. */

const lab = {
    "What softmax attention tells apart and linear attention does not":
        "Was Softmax-Attention unterscheidet und lineare Attention nicht",
    "arXiv:2310.11685, sections 3, 7, D and F": "arXiv:2310.11685, Abschnitte 3, 7, D und F",
    "D0 and D1 are data sets that differ in one entry alone; F_exp and F_lin are networks of one attention layer, with softmax and with linear attention, then a layer of ReLU with random signs. Success of a trial: F_exp(D1) > 0 and F_lin(D1) = F_exp(D0) = F_lin(D0) = 0 with the same signs; delta is the part of trials that may fail. The ratio of success over the parameters of the networks.":
        "D0 und D1 sind Datensätze, die sich nur in einem Eintrag unterscheiden; F_exp und F_lin sind Netze aus einer Schicht Attention, mit Softmax und mit linearer Attention, und einer Schicht ReLU mit zufälligen Vorzeichen. Erfolg eines Versuchs: F_exp(D1) > 0 und F_lin(D1) = F_exp(D0) = F_lin(D0) = 0 mit denselben Vorzeichen; delta ist der Anteil der Versuche, die misslingen dürfen. Der Anteil der Erfolge, abhängig von den Parametern der Netze.",
    "All trials at points within the definitions' premises, with m of log(n / delta) or more, taken together: it holds where the 95% interval of their success is not below 1 - delta, and fails where the interval is below.":
        "Alle Versuche an Punkten innerhalb der Voraussetzungen der Definitionen, mit m von mindestens log(n / delta), zusammengenommen: Sie trifft zu, wo das 95-%-Intervall ihres Erfolgs nicht unter 1 - delta liegt, und trifft nicht zu, wo es darunter liegt.",
};

const tells = (net: string, where: string) =>
    `Schon bei diesen Größen unterscheidet ${net} D1 von D0 mit Softmax und mit linearer Attention nicht, mit Wahrscheinlichkeit 1 - delta oder mehr (${where}; bewiesen für hinreichend großes n).`;

const claims = {
    "At these sizes already, regression with softmax tells D1 from D0 and with linear attention does not, with probability 1 - delta or more (Lemmas 5.1 to 5.4; proved for n large enough).":
        tells("Regression", "Lemmata 5.1 bis 5.4"),
    "At these sizes already, self-attention with softmax tells D1 from D0 and with linear attention does not, with probability 1 - delta or more (section E: Theorem E.4 for F_exp(D1), asking for b^2 + c^2 = 1, a1 of 1 or more and b below 0.2, other proofs omitted; proved for n large enough).":
        tells(
            "Self-Attention",
            "Abschnitt E: Theorem E.4 für F_exp(D1), das b^2 + c^2 = 1, a1 von mindestens 1 und b unter 0.2 verlangt, andere Beweise ausgelassen",
        ),
    "At these sizes already, self-attention with softmax tells D1 from D0 and with linear attention does not, with probability 1 - delta or more (Theorem 6.2; Theorems D.5, D.9, D.13 and D.17; proved for n large enough).":
        tells("Self-Attention", "Theorem 6.2; Theoreme D.5, D.9, D.13 und D.17"),
    "At these sizes already, cross-attention with softmax tells D1 from D0 and with linear attention does not, with probability 1 - delta or more (Theorems F.5, F.9, F.13 and F.17; proved for n large enough).":
        tells("Cross-Attention", "Theoreme F.5, F.9, F.13 und F.17"),
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
    "log n for regression, max(log(n/delta), 15) for self-, log(n/delta) for cross-attention":
        "log n bei Regression, max(log(n/delta), 15) bei Self-, log(n/delta) bei Cross-Attention",
    "failure probability delta": "Ausfallwahrscheinlichkeit delta",
    "what the claim allows; m follows it unless m is set":
        "was die Behauptung erlaubt; m richtet sich danach, wenn es nicht gesetzt ist",
    "the mark in D0; the definitions ask for 0 < a0 < 0.1":
        "die Marke in D0; die Definitionen verlangen 0 < a0 < 0.1",
    "the mark in D1; the definitions ask for 0.7 or more (self-), more than 1 (cross-attention)":
        "die Marke in D1; die Definitionen verlangen mindestens 0.7 (Self-), mehr als 1 (Cross-Attention)",
    "size of the identity blocks": "Größe der Einheitsblöcke",
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
    "95% interval": "95-%-Intervall",
    "trials with a decision that rounding can turn":
        "Versuche mit einer Entscheidung, die Rundung kippen kann",
    "trials with a normaliser near 0": "Versuche mit einem Normierer nahe 0",
    "ratio of trials": "Anteil der Versuche",
};

export const separation = { ...lab, ...claims, ...params, ...columns };
