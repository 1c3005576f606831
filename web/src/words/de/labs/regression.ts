/** What the lab of softmax regression says. */

const lab = {
    "Softmax regression and in-context learning": "Softmax-Regression und Lernen im Kontext",
    "arXiv:2304.13276, Theorems 8.1 and 8.2": "arXiv:2304.13276, Theoreme 8.1 und 8.2",
    "A step of gradient descent on x and an update of the data A both shift the target b by a bounded amount. Two updates of A are measured: a gradient step on A, and one layer of self-attention, in which each token attends to all. Shifts per length of step, in logarithms as the bounds overflow, and the angle between them; and a layer of attention with weights that do the step itself.":
        "Ein Schritt Gradientenabstieg in x und eine Änderung der Daten A verschieben beide das Ziel b um einen beschränkten Betrag. Gemessen werden zwei Änderungen von A: ein Gradientenschritt in A und eine Schicht Self-Attention, in der jedes Token auf alle schaut. Verschiebungen je Schrittlänge, logarithmisch, da die Schranken überlaufen, und der Winkel zwischen ihnen; dazu eine Schicht Attention mit Gewichten, die den Schritt selbst tun.",
};

const panels = {
    "Softmax regression by gradient descent": "Softmax-Regression durch Gradientenabstieg",
    "A step against the gradient lowers the loss (section 5.1, with the sign that descends).":
        "Ein Schritt gegen den Gradienten senkt den Verlust (Abschnitt 5.1, mit dem Vorzeichen, das absteigt).",
    "Each mean loss from one point to the next: falling, or arrived at float's rounding, counts for it, rising against it.":
        "Jeder mittlere Verlust von einem Punkt zum nächsten: Fällt er oder ist er bei der Rundung von float angekommen, zählt er dafür, steigt er, dagegen.",
    "Shift of the target for a step of length 1, against both bounds":
        "Verschiebung des Ziels bei einem Schritt der Länge 1, gegen beide Schranken",
    "A step of x, and an update of A, shift the target by at most M times their length (Theorems 8.1 and 8.2).":
        "Ein Schritt von x und eine Änderung von A verschieben das Ziel um höchstens das M-Fache ihrer Länge (Theoreme 8.1 und 8.2).",
    "Each largest ratio of the trials counts for it where it is at most the proofs' own bound, which is below M, and against it where it is above M; points outside of the premises do not count.":
        "Jedes größte Verhältnis der Versuche zählt dafür, wo es höchstens die Schranke der Beweise selbst ist, die unter M liegt, und dagegen, wo es über M liegt; Punkte außerhalb der Voraussetzungen zählen nicht.",
    "Do the weight step and an update of the data shift the target alike?":
        "Verschieben der Gewichtsschritt und eine Änderung der Daten das Ziel gleich?",
    "A layer of self-attention and a step of gradient descent change the model with great similarity (abstract, section 1.1). No bound of the paper says how great: two probability vectors differ by at most sqrt 2, and M binds steps below 1e-72 alone.":
        "Eine Schicht Self-Attention und ein Schritt des Gradientenabstiegs ändern das Modell mit großer Ähnlichkeit (Zusammenfassung, Abschnitt 1.1). Keine Schranke der Arbeit sagt, wie groß: Zwei Wahrscheinlichkeitsvektoren liegen höchstens sqrt 2 auseinander, und M bindet nur Schritte unter 1e-72.",
    "On descents of random data, with a layer whose weights are identities, as the paper gives none.":
        "Bei Abstiegen auf zufälligen Daten, mit einer Schicht, deren Gewichte Einheitsmatrizen sind, da die Arbeit keine nennt.",
    "None: the paper has no number for it, and we set no bar.":
        "Nichts: Die Arbeit hat keine Zahl dafür, und wir setzen keine Schwelle.",
    "On descents of random data with |A| and |x| within R >= 4, b = f(x*) and steps of |A (x' - x)|_inf < 0.01, as the theorems ask.":
        "Bei Abstiegen auf zufälligen Daten mit |A| und |x| bis R >= 4, b = f(x*) und Schritten mit |A (x' - x)|_inf < 0.01, wie die Theoreme verlangen.",
    "At the first step of descents of random data, over the inverse temperature beta.":
        "Beim ersten Schritt von Abstiegen auf zufälligen Daten, über der inversen Temperatur beta.",
    "At the steps of descents of random data, beta = 0.1.":
        "Bei den Schritten von Abstiegen auf zufälligen Daten, beta = 0.1.",
    "A layer with explicit weights, which are ours, and a step of gradient descent change the model with great similarity (abstract, section 1.1), for which we take shifts of the target whose cosine is 0.9 or more.":
        "Eine Schicht mit expliziten Gewichten, die unsere sind, und ein Schritt des Gradientenabstiegs ändern das Modell mit großer Ähnlichkeit (Zusammenfassung, Abschnitt 1.1), als die wir Verschiebungen des Ziels mit einem Kosinus von 0.9 oder mehr nehmen.",
    "Shift of the target for a step of length 1, over R":
        "Verschiebung des Ziels bei einem Schritt der Länge 1, über R",
    "Largest part of what each Lipschitz lemma allows, over R":
        "Größter Anteil dessen, was jedes Lipschitz-Lemma erlaubt, über R",
    "Each lemma on the way to the bounds (5.5 to 5.8 for a step of x, 7.5 to 7.8 for one of A) holds for every step of gradient descent.":
        "Jedes Lemma auf dem Weg zu den Schranken (5.5 bis 5.8 für einen Schritt von x, 7.5 bis 7.8 für einen von A) gilt für jeden Schritt des Gradientenabstiegs.",
    "Each lemma and radius: the largest part of the allowed, over the first steps of all trials, counts for it up to 1 and against it above.":
        "Jedes Lemma und jeder Radius: Der größte Anteil am Erlaubten, über die ersten Schritte aller Versuche, zählt bis 1 dafür und darüber dagegen.",
    "One layer of self-attention with explicit weights beside the gradient step":
        "Eine Schicht Self-Attention mit expliziten Gewichten neben dem Gradientenschritt",
    "A layer of softmax self-attention has weights with which it shifts the target as a step of gradient descent does (abstract, section 1.1; the weights are ours, after those of section 2.1 for linear attention), up to an error that vanishes with beta.":
        "Eine Schicht Self-Attention mit Softmax hat Gewichte, mit denen sie das Ziel verschiebt wie ein Schritt Gradientenabstieg (Abstract, Abschnitt 1.1; die Gewichte sind von uns, nach denen von Abschnitt 2.1 für lineare Attention), bis auf einen Fehler, der mit beta verschwindet.",
    "Each beta and both layers: the largest part of its bound that an error is counts for it up to 1 and against it above.":
        "Jedes beta und beide Schichten: Der größte Anteil eines Fehlers an seiner Schranke zählt bis 1 dafür und darüber dagegen.",
    "Does a layer with explicit weights shift the target as the gradient step does?":
        "Verschiebt eine Schicht mit expliziten Gewichten das Ziel wie der Gradientenschritt?",
    "Each mean cosine: its 95% interval being at 0.9 or above counts for it, being below against it, and holding 0.9 neither way.":
        "Jeder mittlere Kosinus: Liegt sein 95-%-Intervall bei 0.9 oder darüber, zählt er dafür, liegt es darunter, dagegen, enthält es 0.9, weder noch.",
};

const params = {
    "rows of the data A": "Zeilen der Daten A",
    "columns of A, length of x": "Spalten von A, Länge von x",
    "radius R": "Radius R",
    "|A| = 0.95 R, and |x| stays within R; the theorems ask for 4 or more":
        "|A| = 0.95 R, und |x| bleibt innerhalb von R; die Theoreme verlangen mindestens 4",
    "largest move": "größte Bewegung",
    "|A (x' - x)|_inf of a step stays below; the theorems ask for 0.01":
        "|A (x' - x)|_inf eines Schrittes bleibt darunter; die Theoreme verlangen 0.01",
    "step t": "Schritt t",
    "the step that is measured, where x is not it":
        "der Schritt, der gemessen wird, wo er nicht x ist",
    "inverse temperature": "inverse Temperatur",
    "queries of the layer with explicit weights are beta times its keys":
        "Queries der Schicht mit expliziten Gewichten sind beta mal ihre Keys",
    "descents, each on data of its own": "Abstiege, jeder auf eigenen Daten",
};

const axes = {
    "loss and gradient": "Verlust und Gradient",
    "log10 (shift / step)": "log10 (Verschiebung / Schritt)",
    cosine: "Kosinus",
    "log10 (measured / allowed)": "log10 (gemessen / erlaubt)",
    "inverse temperature beta": "inverse Temperatur beta",
    "error over the length of the shift": "Fehler durch die Länge der Verschiebung",
};

const columns = {
    "loss L(x), geometric mean": "Verlust L(x), geometrisches Mittel",
    "gradient |grad L|, geometric mean": "Gradient |grad L|, geometrisches Mittel",
    "weight step and gradient step on A, mean":
        "Gewichtsschritt und Gradientenschritt in A, Mittel",
    "95% interval of the mean": "95-%-Intervall des Mittels",
    "weight step and layer of self-attention, mean":
        "Gewichtsschritt und Schicht Self-Attention, Mittel",
    "weight step: |f(x') - f(x)| / |x' - x|": "Gewichtsschritt: |f(x') - f(x)| / |x' - x|",
    "gradient step on A: |f(A') - f(A)| / |A' - A|":
        "Gradientenschritt in A: |f(A') - f(A)| / |A' - A|",
    "layer of self-attention: |f(A') - f(A)| / |A' - A|":
        "Schicht Self-Attention: |f(A') - f(A)| / |A' - A|",
    "R/2: softmax is 1/2-Lipschitz in its logits":
        "R/2: Softmax ist 1/2-Lipschitz in seinen Logits",
    "log10 of the step size, mean": "log10 der Schrittweite, Mittel",
    "descents that still move": "Abstiege, die sich noch bewegen",
    "of them, within the theorems' premises": "davon innerhalb der Voraussetzungen der Theoreme",
    "of them, shifts of 100 times float's rounding, which are told":
        "davon Verschiebungen vom 100-Fachen der Rundung von float, die gezeigt werden",
    "max |f of the plugin - f in double|": "max |f des Plugins - f in double|",
    "layer of softmax attention, largest error": "Schicht Softmax-Attention, größter Fehler",
    "layer of linear attention, largest error": "Schicht linearer Attention, größter Fehler",
    "bound of softmax attention's": "Schranke dessen von Softmax-Attention",
    "gradient step and layer of softmax attention, mean":
        "Gradientenschritt und Schicht Softmax-Attention, Mittel",
    "largest part of its bound, softmax attention":
        "größter Anteil an seiner Schranke, Softmax-Attention",
    "the same, linear attention: float's rounding":
        "dasselbe, lineare Attention: die Rundung von float",
    "5.5, part 1": "5.5, Teil 1",
    "5.5, part 2": "5.5, Teil 2",
    "5.5, part 3: f": "5.5, Teil 3: f",
    "7.5, part 1": "7.5, Teil 1",
    "7.5, part 2": "7.5, Teil 2",
    "7.5, part 3": "7.5, Teil 3",
    "steps that were measured": "Schritte, die gemessen wurden",
    "parts above 1": "Anteile über 1",
};

export const regression = { ...lab, ...panels, ...params, ...axes, ...columns };
