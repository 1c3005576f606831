/** What the lab of reasoning says of the figures that it has made: it takes hours, and runs on no page. */

export const reasoning = {
    "Transformers that learn dynamic programs": "Transformer, die dynamische Programme lernen",
    "Do Efficient Transformers Really Save Computation?, section 6, Figures 1 to 3, Table 2":
        "Do Efficient Transformers Really Save Computation?, Abschnitt 6, Abbildungen 1 bis 3, Tabelle 2",
    "Decoders learn to write the chain of thought of LIS, edit distance and arithmetic. With sparse and linear attention they need to be wider as problems grow, unless each step looks back a little only.":
        "Decoder lernen, die Gedankenkette zu LIS, Editierdistanz und Rechnen zu schreiben. Mit dünner und linearer Attention müssen sie breiter sein, wenn Aufgaben wachsen, es sei denn, jeder Schritt schaut nur wenig zurück.",
    "Softmax attention on every task": "Softmax-Attention bei jeder Aufgabe",
    "Softmax attention solves all tasks at all sizes at one fixed width (Figure 1).":
        "Softmax-Attention löst alle Aufgaben in allen Größen bei einer festen Breite (Abbildung 1).",
    "At sizes that a laptop trains: LIS of 6 to 16 numbers, ED of 3 to 6 letters, arithmetic of 2 to 4 operators modulo 5, D = 16 to 64.":
        "Bei Größen, die ein Laptop trainiert: LIS mit 6 bis 16 Zahlen, ED mit 3 bis 6 Buchstaben, Rechnen mit 2 bis 4 Operatoren modulo 5, D = 16 bis 64.",
    "Right answers by width and size": "Richtige Antworten nach Breite und Größe",
    "Linear and sparse attention generally need more width than softmax for 90% of answers, and on LIS more for larger problems (Figure 1).":
        "Lineare und dünne Attention brauchen für 90 % der Antworten im Allgemeinen mehr Breite als Softmax, und bei LIS mehr für größere Aufgaben (Abbildung 1).",
    "With 5 layers, linear and sparse attention generally need more width than softmax for 90% of answers on ED, as with 3 (Figure 3).":
        "Mit 5 Schichten brauchen lineare und dünne Attention bei ED für 90 % der Antworten im Allgemeinen mehr Breite als Softmax, wie mit 3 (Abbildung 3).",
    "Edit distance by locality and width": "Editierdistanz nach Lokalität und Breite",
    "Linear attention needs less width for 90% of answers as the steps of edit distance look back less: bands of 1 and of 2 cells beside the diagonal, and whole rows (Figure 2: locality reduces the necessary width).":
        "Lineare Attention braucht für 90 % der Antworten weniger Breite, wenn die Schritte der Editierdistanz weniger zurückschauen: Bänder von 1 und von 2 Zellen neben der Diagonale und ganze Zeilen (Abbildung 2: Lokalität senkt die nötige Breite).",
    "Words of 3 letters, D = 16, 24, 32, 40, 48 and 64, up to 500 thousand samples a model.":
        "Wörter aus 3 Buchstaben, D = 16, 24, 32, 40, 48 und 64, bis zu 500 Tausend Beispiele je Modell.",
    "Each band beside the next wider one: for it where its least width with 90% of answers is surely smaller, against it where surely larger; equal widths decide nothing.":
        "Jedes Band neben dem nächstbreiteren: dafür, wo seine kleinste Breite mit 90 % der Antworten sicher kleiner ist, dagegen, wo sicher größer; gleiche Breiten entscheiden nichts.",
    "band; 0: whole rows": "Band; 0: ganze Zeilen",
    "Edit distance, banded and not": "Editierdistanz, im Band und ohne",
    "Linear and sparse attention need less width for 90% of answers where each step looks back a little only (Figure 2: locality reduces the necessary width).":
        "Lineare und dünne Attention brauchen für 90 % der Antworten weniger Breite, wo jeder Schritt nur wenig zurückschaut (Abbildung 2: Lokalität senkt die nötige Breite).",
    "Edit distance with 5 layers": "Editierdistanz mit 5 Schichten",
    "Least operations for 90% of answers": "Wenigste Operationen für 90 % der Antworten",
    "Softmax attention needs the fewest operations for 90% of answers (Table 2).":
        "Softmax-Attention braucht die wenigsten Operationen für 90 % der Antworten (Tabelle 2).",
    "Least width by training, LIS": "Kleinste Breite durch Training, LIS",
    "Least width by training, arithmetic": "Kleinste Breite durch Training, Rechnen",
    "Linear and sparse attention need more width for larger problems (Table 1), and not less than a state that holds the L numbers that a step may ask for.":
        "Lineare und dünne Attention brauchen mehr Breite für größere Aufgaben (Tabelle 1) und nicht weniger als ein Zustand, der die L Zahlen hält, nach denen ein Schritt fragen kann.",
    "For arithmetic, sparse attention can have a constant width (Proposition 5.1), and linear attention needs one that grows at least as L^0.25 (Proposition 5.2).":
        "Beim Rechnen kann dünne Attention eine feste Breite haben (Proposition 5.1), und lineare Attention braucht eine, die mindestens wie L^0,25 wächst (Proposition 5.2).",
};
