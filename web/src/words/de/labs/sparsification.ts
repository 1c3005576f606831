/** What the lab of sparsification says. */

const promised = (who: string, what: string, where: string) =>
    `${who} der Größe, die die Schranke für eps und delta verlangt, oder größer hat ${what}, bis auf einen Anteil delta der Sketches (${where}).`;
const rates = (who: string) =>
    `Jede Rate von ${who} bei einer solchen Größe: Liegt ihr 95-%-Intervall höchstens bei delta, zählt sie dafür, liegt es über delta, dagegen, enthält es delta, weder noch; andere Methoden sagen etwas anderes zu.`;
const times = "nnz(X) = Dichte n d, bei festem n und d";

const lab = {
    "Sketches of symmetric attention": "Sketches symmetrischer Attention",
    "arXiv:2304.04397, Theorems 3.5 and 3.6, Lemmas 3.1 to 3.4 and 5.4":
        "arXiv:2304.04397, Theoreme 3.5 und 3.6, Lemmata 3.1 bis 3.4 und 5.4",
    "Fewer features, nearly the same attention matrix: where the sketch keeps the spectrum of X X^T, no weight moves by more than 12 r. Measured through the sketch plugin, for each of its methods; the least sizes, times of CSR and deterministic weights by the algorithms on X itself.":
        "Weniger Features, fast dieselbe Attention-Matrix: Wo der Sketch das Spektrum von X X^T erhält, bewegt sich kein Gewicht um mehr als 12 r. Gemessen mit dem Plugin sketch, für jede seiner Methoden; die kleinsten Größen, die Zeiten von CSR und deterministische Gewichte mit den Algorithmen auf X selbst.",
};

const titles = {
    "Error of the attention matrix over the sketch size":
        "Fehler der Attention-Matrix über der Sketch-Größe",
    "Error of the attention matrix over r": "Fehler der Attention-Matrix über r",
    "Distortion of the deterministic sketch over its size":
        "Verzerrung des deterministischen Sketches über seiner Größe",
    "How often the distortion is above eps, at leverage's size":
        "Wie oft die Verzerrung über eps liegt, bei der Größe von leverage",
    "How often the attention matrix moves by more than 12 r, at leverage's size":
        "Wie oft sich die Attention-Matrix um mehr als 12 r bewegt, bei der Größe von leverage",
    "How often a logit is off by more than eps |x_i| |x_j|, at the Gaussian sketch's size":
        "Wie oft ein Logit um mehr als eps |x_i| |x_j| danebenliegt, bei der Größe des Gauß-Sketches",
    "How often |S' - S|_F is above eps |X|_F^2, at the AMS sketch's size":
        "Wie oft |S' - S|_F über eps |X|_F^2 liegt, bei der Größe des AMS-Sketches",
    "How often the distortion is above eps, over the sketch size":
        "Wie oft die Verzerrung über eps liegt, über der Sketch-Größe",
    "How often a logit is off by more than eps |x_i| |x_j|, over the sketch size":
        "Wie oft ein Logit um mehr als eps |x_i| |x_j| danebenliegt, über der Sketch-Größe",
    "How often |S' - S|_F is above eps |X|_F^2, over the sketch size":
        "Wie oft |S' - S|_F über eps |X|_F^2 liegt, über der Sketch-Größe",
    "Time of a run over the features d of a dense X, nnz(X) = n d":
        "Zeit eines Laufs über den Features d eines dichten X, nnz(X) = n d",
    "Time of a run over the tokens n of a dense X, nnz(X) = n d":
        "Zeit eines Laufs über den Token n eines dichten X, nnz(X) = n d",
    "Time of a run over nnz(X) = density n d, at fixed n and d": `Zeit eines Laufs über ${times}`,
    "Time from CSR over the features d, nnz(X) = density n d":
        "Zeit aus CSR über den Features d, nnz(X) = Dichte n d",
    "Time from CSR over nnz(X) = density n d, at fixed n and d": `Zeit aus CSR über ${times}`,
    "Least size that keeps the spectrum, features alike":
        "Kleinste Größe, die das Spektrum erhält, alle Features gleich",
    "Least size that keeps the spectrum, one feature of 97 30 times as large":
        "Kleinste Größe, die das Spektrum erhält, eines von 97 Features 30-mal so groß",
    "Work of the deterministic algorithm over the features d":
        "Arbeit des deterministischen Algorithmus über den Features d",
    "Work of the deterministic algorithm over the tokens n":
        "Arbeit des deterministischen Algorithmus über den Token n",
    "How much of what Lemmas 3.1 to 3.4 allow is taken, over r":
        "Wie viel von dem, was die Lemmata 3.1 bis 3.4 erlauben, genutzt wird, über r",
};

const claims = {
    "At fixed n and eps the deterministic algorithm takes time at most linear in the features (Theorems 3.6 and 4.2: min{sum of nnz(x_i)^2, d n^(omega - 1)}).":
        "Bei festem n und eps braucht der deterministische Algorithmus Zeit höchstens linear in den Features (Theoreme 3.6 und 4.2: min{Summe der nnz(x_i)^2, d n^(omega - 1)}).",
    "On random dense X, n = 8, d = 1024 to 16384, eps = 0.75, where that term is the largest. Counted: the steps that are taken, times the loops of each.":
        "An zufälligen dichten X, n = 8, d = 1024 bis 16384, eps = 0.75, wo dieser Term der größte ist. Gezählt: die Schritte, die getan werden, mal die Schleifen jedes Schrittes.",
    "The exponent over d: it counts for it where its whole interval, the slopes at both ends included, is at most 1 and 0.05, against it where the whole interval is above; each point also where the distortion is at most eps, and against it where it is above.":
        "Der Exponent über d: Er zählt dafür, wo sein ganzes Intervall, samt den Steigungen an beiden Enden, höchstens 1 und 0.05 ist, dagegen, wo das ganze Intervall darüber liegt; jeder Punkt auch, wo die Verzerrung höchstens eps ist, und dagegen, wo sie darüber liegt.",
    "The library's barrier method goes over all features at each of 4 n / eps^2 steps: work ~ n^3 d, a factor of n / eps^2 above the first term of Theorem 4.2, whose algorithm ([SXZ22]) it is not.":
        "Die Barrieremethode der Bibliothek geht bei jedem von 4 n / eps^2 Schritten über alle Features: Arbeit ~ n^3 d, um n / eps^2 über dem ersten Term von Theorem 4.2, dessen Algorithmus ([SXZ22]) sie nicht ist.",
    "On random dense X, d = 16384 and eps = 0.75. Counted: the steps that are taken, times the loops of each.":
        "An zufälligen dichten X, d = 16384 und eps = 0.75. Gezählt: die Schritte, die getan werden, mal die Schleifen jedes Schrittes.",
    "The exponent over n: it counts for it where its interval comes within 0.05 of 3, against it where not; each point also where the distortion is at most eps, and against it where it is above.":
        "Der Exponent über n: Er zählt dafür, wo sein Intervall bis auf 0.05 an 3 kommt, dagegen, wo nicht; jeder Punkt auch, wo die Verzerrung höchstens eps ist, und dagegen, wo sie darüber liegt.",
    "deterministic, counted": "deterministisch, gezählt",
    "sum of nnz(x_i)^2 + n^4 / eps^2 (Theorem 4.2, omega = 3)":
        "Summe der nnz(x_i)^2 + n^4 / eps^2 (Theorem 4.2, omega = 3)",
    "features that are added": "Features, die hinzukommen",
    "additions and multiplications": "Additionen und Multiplikationen",
    distortion: "Verzerrung",
    eps: "verlangtes eps",
    "Where a sketch has distortion below 1 and r < 0.1, no entry of the attention matrix moves by more than 12 r (Lemmas 3.1 to 3.4).":
        "Wo ein Sketch eine Verzerrung unter 1 hat und r < 0.1 ist, bewegt sich kein Eintrag der Attention-Matrix um mehr als 12 r (Lemmata 3.1 bis 3.4).",
    "Deterministic weights on m = O(eps^-2 n) features keep X X^T within 1 +- eps (Theorem 4.2; with the barrier method's constants eps = 2 sqrt q / (q + 1), q = m / n), and no entry of the attention matrix moves by more than 12 r (Theorem 3.6).":
        "Deterministische Gewichte auf m = O(eps^-2 n) Features erhalten X X^T bis auf 1 +- eps (Theorem 4.2; mit den Konstanten der Barrieremethode eps = 2 sqrt q / (q + 1), q = m / n), und kein Eintrag der Attention-Matrix bewegt sich um mehr als 12 r (Theorem 3.6).",
    "Leverage sampling at the size that the bound for eps and delta asks for, or more, has a distortion of at most eps but for a part delta of the sketches (Lemma 5.4).":
        promised("Leverage-Sampling", "eine Verzerrung von höchstens eps", "Lemma 5.4"),
    "Leverage sampling at the size that the bound for eps and delta asks for, or more, has no entry of the attention matrix moved by more than O(r) but for a part delta of the sketches (Theorem 3.5), here 12 r (Lemma 3.4).":
        "Leverage-Sampling hat bei der Größe, die die Schranke für eps und delta verlangt, oder mehr, bis auf einen Anteil delta der Sketches keinen Eintrag der Attention-Matrix um mehr als O(r) bewegt (Theorem 3.5), hier 12 r (Lemma 3.4).",
    "A Gaussian sketch at the size that the bound for eps and delta asks for, or more, has each logit within eps |x_i| |x_j| but for a part delta of the sketches (Dasgupta and Gupta, 2003).":
        promised(
            "Ein Gauß-Sketch",
            "jedes Logit bis auf eps |x_i| |x_j|",
            "Dasgupta und Gupta, 2003",
        ),
    "An AMS, OSNAP or SRHT sketch at the size that the bound for eps and delta asks for, or more, has |S' - S|_F of at most eps |X|_F^2 but for a part delta of the sketches (Markov's inequality).":
        promised(
            "Ein AMS-, OSNAP- oder SRHT-Sketch",
            "|S' - S|_F von höchstens eps |X|_F^2",
            "Markow-Ungleichung",
        ),
    "Sampling by approximate scores (Algorithms 1 and 2) takes time (nnz(X) + n^omega) poly(log(n / delta)) (Theorem 3.5): at fixed n at most linear in nnz(X).":
        "Ziehen nach genäherten Scores (Algorithmen 1 und 2) braucht Zeit (nnz(X) + n^omega) poly(log(n / delta)) (Theorem 3.5): bei festem n höchstens linear in nnz(X).",
    "The plugin's methods take time at most linear in nnz(X) on dense X, but leverage over n, which needs n^2 d.":
        "Die Verfahren des Plugins brauchen auf dichtem X Zeit höchstens linear in nnz(X), außer leverage über n, das n^2 d braucht.",
    "On dense X through the plugin, on the machine that is named.":
        "Auf dichtem X durch das Plugin, auf der Maschine, die genannt ist.",
    "From the arrays of a CSR to Y, n = 32, on the machine that is named; other methods are drawn beside it.":
        "Von den Arrays einer CSR bis zu Y, n = 32, auf der Maschine, die genannt ist; andere Verfahren sind daneben gezeichnet.",
    "On random X with max |X X^T| = r < 0.1 and d >> n, for each sketch of distortion below 1.":
        "Bei zufälligem X mit max |X X^T| = r < 0.1 und d >> n, bei jedem Sketch mit Verzerrung unter 1.",
    "On random X with max |X X^T| = r < 0.1 and d >> n, for each sketch of distortion below 1. Lemma 3.1 prints (1 - eps) B <= A <= (1 + eps) B, for which it is false (A = 0.1, B = 0.4, eps = 0.75): what its proof uses is judged.":
        "Bei zufälligem X mit max |X X^T| = r < 0.1 und d >> n, bei jedem Sketch mit Verzerrung unter 1. Lemma 3.1 druckt (1 - eps) B <= A <= (1 + eps) B, wofür es falsch ist (A = 0.1, B = 0.4, eps = 0.75): Beurteilt ist, was sein Beweis nutzt.",
    "On a random X, n = 8 and d = 512, with independent sketches at each point.":
        "Bei einem zufälligen X, n = 8 und d = 512, mit unabhängigen Sketches an jedem Punkt.",
    "On random X, n = 8 and d = 512, r = 0.008, from m = n + 1 on.":
        "Bei zufälligem X, n = 8 und d = 512, r = 0.008, ab m = n + 1.",
    "On random X with d = 2048 and d = 512 features, n = 4 to 32.":
        "Bei zufälligem X mit d = 2048 und d = 512 Features, n = 4 bis 32.",
    "m = O(n log n) sampled features, or O(n) weighed ones, are enough however many there are (Theorems 3.5 and 3.6).":
        "m = O(n log n) gezogene Features oder O(n) gewichtete genügen, so viele es auch gibt (Theoreme 3.5 und 3.6).",
    "Where (1 - eps) A <= B <= (1 + eps) A, eps < 1, and |A| <= r < 0.1: |B| <= (1 + eps) r; exp B is within 6 r of exp A, relative to either; so are the sums of its rows; no entry of the attention matrix moves by more than 12 r (Lemmas 3.1 to 3.4).":
        "Wo (1 - eps) A <= B <= (1 + eps) A, eps < 1 und |A| <= r < 0.1: |B| <= (1 + eps) r; exp B ist bis auf 6 r gleich exp A, relativ zu beiden; ebenso die Summen seiner Zeilen; kein Eintrag der Attention-Matrix bewegt sich um mehr als 12 r (Lemmata 3.1 bis 3.4).",
};

const criteria = {
    "Each sketch of distortion below 1 counts for it where its largest error is at most 12 r, and against it where not.":
        "Jeder Sketch mit Verzerrung unter 1 zählt dafür, wo sein größter Fehler höchstens 12 r ist, sonst dagegen.",
    "Each largest distortion counts for it where it is at most that eps and what reading logits in float can add, against it where not; so does each largest error against 12 r where the distortion is below 1.":
        "Jede größte Verzerrung zählt dafür, wo sie höchstens dieses eps ist und was das Lesen der Logits in float hinzufügen kann, sonst dagegen; ebenso jeder größte Fehler gegen 12 r, wo die Verzerrung unter 1 liegt.",
    "Each rate of leverage at such a size: its 95% interval being at most delta counts for it, being above delta against it, and holding delta neither way; other methods promise something else.":
        rates("leverage"),
    "Each rate of gaussian at such a size: its 95% interval being at most delta counts for it, being above delta against it, and holding delta neither way; other methods promise something else.":
        rates("gaussian"),
    "Each rate of ams, osnap and srht at such a size: its 95% interval being at most delta counts for it, being above delta against it, and holding delta neither way; other methods promise something else.":
        rates("ams, osnap und srht"),
    "Each method's exponent of time over nnz(X), but leverage's over n: surely at most 1.05 counts for it, surely above against it.":
        "Der Exponent der Zeit jedes Verfahrens über nnz(X), außer dem von leverage über n: Sicher höchstens 1.05 zählt dafür, sicher darüber dagegen.",
    "The exponent of approximate's time over nnz(X), and no other: surely at most 1.05 counts for it, however small, as the theorem bounds time from above; surely above against it.":
        "Der Exponent der Zeit von approximate über nnz(X) und kein anderer: Sicher höchstens 1.05 zählt dafür, und sei er noch so klein, da das Theorem die Zeit nach oben begrenzt; sicher darüber dagegen.",
    "The least m for which at most a twentieth of the sketches has a distortion of 1 or more, in steps of a tenth: each of leverage, approximate and deterministic counts for it where it is less than twice that of d / 4, against it where not. A size in proportion to d would be four times that, to sqrt d twice; few sketches, in coarse steps, scatter by less.":
        "Das kleinste m, bei dem höchstens ein Zwanzigstel der Sketches eine Verzerrung von 1 oder mehr hat, in Schritten von einem Zehntel: leverage, approximate und deterministic zählen je dafür, wo es weniger als doppelt so groß ist wie bei d / 4, sonst dagegen. Eine Größe im Verhältnis zu d wäre viermal so groß, zu sqrt d doppelt; wenige Sketches in groben Schritten streuen um weniger.",
    "Each lemma counts for it at each sketch of distortion below 1 where its largest entry is within what it allows, and against it where not.":
        "Jedes Lemma zählt bei jedem Sketch mit Verzerrung unter 1 dafür, wo sein größter Eintrag innerhalb des Erlaubten liegt, sonst dagegen.",
};

const params = {
    "rows of X": "Zeilen von X",
    "features d": "Features d",
    "columns of X; d >> n": "Spalten von X; d >> n",
    "bound r": "Schranke r",
    "largest entry of X X^T; the lemmas ask for less than 0.1":
        "größter Eintrag von X X^T; die Lemmata verlangen weniger als 0.1",
    "sketch size m": "Sketch-Größe m",
    features: "Features",
    "features of Y, where x is not it": "Features von Y, wo sie nicht x ist",
    "error eps": "Fehler eps",
    "what the promises are asked for": "wofür die Zusagen verlangt sind",
    "with which a promise may fail": "mit der eine Zusage misslingen darf",
    "decay of features": "Abklingen der Features",
    "feature k is scaled by (k + 1)^-decay: uneven leverage scores":
        "Feature k ist mit (k + 1)^-decay skaliert: ungleiche Leverage-Scores",
    density: "Dichte",
    "part of X that is not 0": "Anteil von X, der nicht 0 ist",
    "for measuring one method's time at one point":
        "um die Zeit einer Methode an einem Punkt zu messen",
    "sketches a point": "Sketches je Punkt",
    "spikes of features": "Spitzen der Features",
    "by which one feature of 97 is larger than the others":
        "um wie viel mal eines von 97 Features größer ist als die anderen",
};

const axes = {
    "r = largest entry of X X^T": "r = größter Eintrag von X X^T",
    "largest |A' - A|": "größtes |A' - A|",
    "part of the sketches that fail": "Anteil der Sketches, die scheitern",
    "distortion, largest": "Verzerrung, größte",
    "least sketch size m": "kleinste Sketch-Größe m",
    "part of what is allowed, largest": "Anteil am Erlaubten, größter",
};

const columns = {
    "12 r, where the distortion is below 1": "12 r, wo die Verzerrung unter 1 liegt",
    "largest 6 r (A + A')_ij, of the proof": "größtes 6 r (A + A')_ij, aus dem Beweis",
    "of those, errors above 12 r": "davon Fehler über 12 r",
    "of those, largest part of 6 r (A + A')_ij": "davon größter Anteil an 6 r (A + A')_ij",
    "sketch size that the bound asks for": "Sketch-Größe, die die Schranke verlangt",
    deterministic: "deterministisch",
    "leverage sampling": "Leverage-Sampling",
    "largest |A' - A|, deterministic": "größtes |A' - A|, deterministisch",
    "largest |A' - A|, leverage sampling": "größtes |A' - A|, Leverage-Sampling",
    "features with weight, most": "Features mit Gewicht, meiste",
    "what reading logits in float can add": "was das Lesen der Logits in float hinzufügen kann",
    "elements of X that are not 0": "Elemente von X, die nicht 0 sind",
    "approximate scores": "genäherte Scores",
    "approximate scores, measured": "genäherte Scores, gemessen",
    "approximate scores, d / 4": "genäherte Scores, d / 4",
    uniform: "gleichverteilt",
    "uniform, measured": "gleichverteilt, gemessen",
    "uniform, d / 4": "gleichverteilt, d / 4",
    "deterministic, d / 4": "deterministisch, d / 4",
    "Lemma 3.1: |B| of (1 + eps) r": "Lemma 3.1: |B| von (1 + eps) r",
    "Lemma 3.2: |exp A - exp B| of 6 r min": "Lemma 3.2: |exp A - exp B| von 6 r min",
    "Lemma 3.3: sums of rows of 6 r min": "Lemma 3.3: Zeilensummen von 6 r min",
    "Lemma 3.4: |A' - A| of 12 r": "Lemma 3.4: |A' - A| von 12 r",
    "what the lemma allows": "was das Lemma erlaubt",
    "sketches of distortion below 1": "Sketches mit Verzerrung unter 1",
    "of their four parts, those above 1": "von ihren vier Anteilen die über 1",
};

export const sparsification = {
    ...{ ...lab, ...titles, ...claims, ...criteria },
    ...{ ...params, ...axes, ...columns },
};
