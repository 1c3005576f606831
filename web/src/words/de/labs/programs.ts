/** What the lab of programs says. */

const lab = {
    "Whole problems by explicit weights": "Ganze Aufgaben durch explizite Gewichte",
    "Do Efficient Transformers Really Save Computation?, Theorem 4.2, Proposition 5.1":
        "Do Efficient Transformers Really Save Computation?, Theorem 4.2, Proposition 5.1",
    "Linear and sparse transformers with weights written out by hand solve edit distance and arithmetic step by step, one token at a time.":
        "Lineare und dünne Transformer mit Gewichten von Hand lösen Editierdistanz und Rechnen Schritt für Schritt, Token für Token.",
};

const panels = {
    "Edit distance by explicit weights": "Editierdistanz durch explizite Gewichte",
    "For any n a linear and a sparse transformer of constant depth generate the right output for all inputs of length n (Theorem 4.2, Theorems B.3 and B.4), here of edit distance.":
        "Für jedes n erzeugen ein linearer und ein dünner Transformer fester Tiefe die richtige Ausgabe zu allen Eingaben der Länge n (Theorem 4.2, Theoreme B.3 und B.4), hier der Editierdistanz.",
    "Two words of 1 to 32 letters, of an alphabet of 2, 3 or 26, at random: there are too many to try all. A model is made for one n. Perceptrons with GeLU are computed in double, attention by the plugins in float.":
        "Zwei Wörter aus 1 bis 32 Buchstaben, aus einem Alphabet von 2, 3 oder 26, zufällig: Es sind zu viele, um alle zu prüfen. Ein Modell ist für ein n gemacht. Perzeptrone mit GeLU rechnen in double, Attention durch die Plugins in float.",
    "Each n, of either kind: for it where all tokens of all chains are right, against it where one is not.":
        "Jedes n, jede Art: dafür, wo alle Token aller Ketten richtig sind, dagegen, wo eines es nicht ist.",
    "Width of the models of edit distance": "Breite der Modelle der Editierdistanz",
    "The linear and the sparse transformer have a width of O(sqrt L), constant depth and heads, and weights that are polynomial in L (Theorem 4.2, Theorems B.3 and B.4).":
        "Der lineare und der dünne Transformer haben eine Breite von O(sqrt L), feste Tiefe und Köpfe und Gewichte, die polynomiell in L sind (Theorem 4.2, Theoreme B.3 und B.4).",
    "Of the weights for 1 to 32 letters. The width is the largest number of columns of a token, of neurons of a layer and of columns of a head. The task's own functions must have as many neurons at each n (Assumptions B.1 and B.2).":
        "An den Gewichten für 1 bis 32 Buchstaben. Die Breite ist die größte Zahl der Spalten eines Tokens, der Neuronen einer Schicht und der Spalten eines Kopfes. Die Funktionen der Aufgabe selbst müssen bei jedem n gleich viele Neuronen haben (Annahmen B.1 und B.2).",
    "The exponents of the widths over L count for it where their intervals come within 0.05 of 0.5; depth and heads where they are the same at all n; the largest weight where it is at most (M^4 + 8 L) / eps at all n.":
        "Die Exponenten der Breiten über L zählen dafür, wo ihre Intervalle bis auf 0.05 an 0.5 kommen; Tiefe und Köpfe, wo sie bei allen n gleich sind; das größte Gewicht, wo es bei allen n höchstens (M^4 + 8 L) / eps ist.",
    "Arithmetic by explicit weights of constant width":
        "Rechnen durch explizite Gewichte fester Breite",
    "For any n a sparse transformer with blocks of B ~ sqrt L, 5 layers, 5 heads and a constant width generates the right output for expressions of n operators (Proposition 5.1).":
        "Für jedes n erzeugt ein dünner Transformer mit Blöcken von B ~ sqrt L, 5 Schichten, 5 Köpfen und fester Breite die richtige Ausgabe zu Ausdrücken aus n Operatoren (Proposition 5.1).",
    "Random expressions of 2 to 20 operators modulo 11. The chain evaluates the leftmost operator that is ready. A query must see the whole expression before its own: 7 blocks of sqrt L tokens.":
        "Zufällige Ausdrücke aus 2 bis 20 Operatoren modulo 11. Die Kette wertet den linken Operator aus, der bereit ist. Eine Query muss den ganzen Ausdruck vor ihrem eigenen sehen: 7 Blöcke aus sqrt L Token.",
    "Each n: for it where all tokens of all chains are right, with 5 layers, 5 heads and the width of the first n, against it where not.":
        "Jedes n: dafür, wo alle Token aller Ketten richtig sind, mit 5 Schichten, 5 Köpfen und der Breite des ersten n, dagegen, wo nicht.",
};

const params = {
    "letters n": "Buchstaben n",
    "of either word": "jedes Wortes",
    "operators n": "Operatoren n",
    "of an expression": "eines Ausdrucks",
    modulus: "Modul",
    "of arithmetic, a prime": "des Rechnens, eine Primzahl",
    "pairs of words, or expressions, a point": "Wortpaare oder Ausdrücke je Punkt",
};

const columns = {
    "off a whole number, most": "Abstand von einer ganzen Zahl, größter",
    "off 0 or 1, most": "Abstand von 0 oder 1, größter",
    "linear attention": "lineare Attention",
    "sparse attention": "dünne Attention",
    "1/2: the next whole number is another": "1/2: Die nächste ganze Zahl ist eine andere",
    "1/2: another token may win": "1/2: Ein anderes Token kann gewinnen",
    "chains that are right, linear": "richtige Ketten, linear",
    "chains that are right, sparse": "richtige Ketten, dünn",
    "chains that are right": "richtige Ketten",
    "width D": "Breite D",
    "50 sqrt L": "das 50-Fache von sqrt L",
    "neurons of f, g, h, u and the next state, linear":
        "Neuronen von f, g, h, u und dem nächsten Zustand, linear",
    "neurons of f, g, h, u and the next state, sparse":
        "Neuronen von f, g, h, u und dem nächsten Zustand, dünn",
    "layers of attention, linear": "Schichten Attention, linear",
    "layers of attention, sparse": "Schichten Attention, dünn",
    "layers of attention": "Schichten Attention",
    "heads, linear": "Köpfe, linear",
    "heads, sparse": "Köpfe, dünn",
    heads: "Köpfe",
    "perceptrons, linear": "Perzeptrone, linear",
    "perceptrons, sparse": "Perzeptrone, dünn",
    "largest weight, linear": "größtes Gewicht, linear",
    "largest weight, sparse": "größtes Gewicht, dünn",
    "largest weight": "größtes Gewicht",
    "(M^4 + 8 L) / eps (Lemma A.1)": "(M^4 + 8 L) / eps (nach Lemma A.1)",
    "block size B": "Blockgröße B",
    "1: the expression before is within what a query sees":
        "1: Der Ausdruck davor liegt in dem, was eine Query sieht",
};

export const programs = { ...lab, ...panels, ...params, ...columns };
