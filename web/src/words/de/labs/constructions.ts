/** What the lab of constructions says. */

const promised =
    "AGG durch lineare Attention und COPY durch Softmax- und durch dünne Attention, mit den expliziten Gewichten der Lemmata A.9, A.11 und A.12 (für j <= i, wo dort j < i gedruckt ist; A.12 mit Token aus B d Zahlen, wo dort O(d) gedruckt ist), liegen um höchstens eps daneben.";
const norms = (here: string) =>
    `Der größte Parameter von AGG wächst nur logarithmisch (Lemma A.9), die von COPY polynomiell in M, 1/delta, log L und log 1/eps (Lemmata A.11, A.12), hier ${here}`;
const counted =
    "Einer zählt dafür, wo sein Intervall bis auf 0.05 an den behaupteten kommt, dagegen, wo nicht, und ist unentschieden, wo das Intervall breiter ist als 0.5.";

const lab = {
    "AGG and COPY by layers with explicit weights":
        "AGG und COPY durch Schichten mit expliziten Gewichten",
    "Do Efficient Transformers Really Save Computation?, Lemmas A.9, A.11, A.12, Theorem 4.4":
        "Do Efficient Transformers Really Save Computation?, Lemmata A.9, A.11, A.12, Theorem 4.4",
    "Linear attention averages a block, softmax and sparse attention copy a token, with explicit weights and an error of at most eps. What a head can carry along is what limits sparse and linear attention.":
        "Lineare Attention mittelt einen Block, Softmax- und dünne Attention kopieren ein Token, mit expliziten Gewichten und einem Fehler von höchstens eps. Was ein Kopf mitführen kann, begrenzt dünne und lineare Attention.",
};

const panels = {
    "Measured error over the promised one": "Gemessener Fehler über dem zugesagten",
    "Measured error over the length, L = m^2": "Gemessener Fehler über der Länge, L = m^2",
    "Measured error over the size M of the numbers":
        "Gemessener Fehler über der Größe M der Zahlen",
    "AGG by linear attention and COPY by softmax and by sparse attention, with the explicit weights of Lemmas A.9, A.11 and A.12 (for j <= i, where they print j < i; A.12 with tokens of B d numbers, where it prints O(d)), are off by eps at most.":
        promised,
    "Each largest error of the layers in double precision: one of eps or less counts for it, one above it against it. Through the plugins, in float, each error within eps and what counted roundings can add is drawn beside it.":
        "Jeder größte Fehler der Schichten in doppelter Genauigkeit: Bis eps zählt er dafür, darüber dagegen. Daneben stehen die Fehler durch die Plugins, in float, bis eps und zu dem, was gezählte Rundungen hinzufügen können.",
    "On random tokens within [-M, M] that keep Assumption A.10 as tightly as it allows; in double, as float cannot store what is wanted at eps = 1e-8.":
        "Bei zufälligen Token in [-M, M], die Annahme A.10 so knapp wie erlaubt einhalten; in doppelter Genauigkeit, da float das Gewünschte bei eps = 1e-8 nicht speichern kann.",
    "Through the plugins, in float, no error is above eps and what counted roundings can add.":
        "Durch die Plugins, in float, ist kein Fehler über eps und dem, was gezählte Rundungen hinzufügen können.",
    "Of the constructions' weight matrices, which do not depend on the tokens.":
        "An den Gewichtsmatrizen der Konstruktionen, die nicht von den Token abhängen.",
    "At L = 16 to 32768; numbers are counted, in the plugins' weights and states.":
        "Bei L = 16 bis 32768; Zahlen sind gezählt, in den Gewichten und Zuständen der Plugins.",
    "At L = 16384; numbers are counted, in the plugins' weights and states.":
        "Bei L = 16384; Zahlen sind gezählt, in den Gewichten und Zuständen der Plugins.",
    "Largest parameter over the length, L = m^2": "Größter Parameter über der Länge, L = m^2",
    "Largest parameter over the promised error": "Größter Parameter über dem zugesagten Fehler",
    "The largest parameter of AGG grows as logarithms alone (Lemma A.9), those of COPY as polynomials of M, 1/delta, log L and log 1/eps (Lemmas A.11, A.12), here all of them as log 1/eps.":
        norms("alle wie log 1/eps."),
    "The largest parameter of AGG grows as logarithms alone (Lemma A.9), those of COPY as polynomials of M, 1/delta, log L and log 1/eps (Lemmas A.11, A.12), here 1/delta^2 ~ L^2 by softmax and the block B ~ sqrt L by sparse attention.":
        norms("wie 1/delta^2 ~ L^2 bei Softmax und wie der Block B ~ sqrt L bei dünner Attention."),
    "Exponents over L of the norm over ln(2 L M / eps): one counts for it where its interval comes within 0.05 of the claimed one, against it where not, and is undecided where the interval is wider than 0.5.": `Exponenten der Norm durch ln(2 L M / eps), über L: ${counted}`,
    "Exponents over 1/eps of the norm over ln(2 L M / eps): one counts for it where its interval comes within 0.05 of the claimed one, against it where not, and is undecided where the interval is wider than 0.5.": `Exponenten der Norm durch ln(2 L M / eps), über 1/eps: ${counted}`,
    "Numbers that a head carries from token to token":
        "Zahlen, die ein Kopf von Token zu Token mitführt",
    "At a constant dimension softmax carries ~ L numbers, sparse attention ~ sqrt L and linear attention as many at any L: the bottleneck of Theorem 4.4.":
        "Bei fester Dimension führt Softmax ~ L Zahlen mit, dünne Attention ~ sqrt L und lineare Attention bei jedem L gleich viele: der Engpass von Theorem 4.4.",
    "Exponents over L: one counts for it where its interval comes within 0.05 of the claimed one (softmax, sparse, linear: 1, 0.5, 0 of the state; 0, 0.5, 0.5 of the dimension; 0, 0, 0.25 for arithmetic; 0, 0, 0.5 over m), against it where not, and is undecided where the interval is wider than 0.5.":
        "Exponenten über L: Einer zählt dafür, wo sein Intervall bis auf 0.05 an den behaupteten kommt (softmax, sparse, linear: 1, 0.5, 0 beim Zustand; 0, 0.5, 0.5 bei der Dimension; 0, 0, 0.25 beim Rechnen; 0, 0, 0.5 über m), dagegen, wo nicht, und ist unentschieden, wo das Intervall breiter ist als 0.5.",
    "Least dimension of a head whose state holds L numbers":
        "Kleinste Dimension eines Kopfes, dessen Zustand L Zahlen hält",
    "For a state of L numbers the dimension of sparse and linear attention must grow as sqrt L (Theorem 4.4, Theorems B.5 and B.6), that of softmax not at all.":
        "Für einen Zustand aus L Zahlen muss die Dimension dünner und linearer Attention wie sqrt L wachsen (Theorem 4.4, Theoreme B.5 und B.6), die von Softmax gar nicht.",
    "Least dimension of a head whose state holds an expression of sqrt L numbers":
        "Kleinste Dimension eines Kopfes, dessen Zustand einen Ausdruck aus sqrt L Zahlen hält",
    "For arithmetic, where a chain of L tokens is of an expression of ~ sqrt L, linear attention needs a dimension of L^0.25 (Proposition 5.2), sparse attention a constant one (Proposition 5.1): Table 1's column of arithmetic, by the state's capacity.":
        "Beim Rechnen, wo eine Kette aus L Token zu einem Ausdruck aus ~ sqrt L gehört, braucht lineare Attention eine Dimension von L^0.25 (Proposition 5.2), dünne eine feste (Proposition 5.1): die Spalte des Rechnens in Tabelle 1, nach der Kapazität des Zustands.",
    "Least dimension of a head whose state holds m numbers, L = 16384":
        "Kleinste Dimension eines Kopfes, dessen Zustand m Zahlen hält, L = 16384",
    "Where steps depend on the last m tokens, linear attention needs a dimension of sqrt m (Proposition 5.5), sparse attention with blocks of m a constant one (Proposition 5.4): Table 1's column of locality, by the state's capacity.":
        "Wo Schritte von den letzten m Token abhängen, braucht lineare Attention eine Dimension von sqrt m (Proposition 5.5), dünne mit Blöcken aus m eine feste (Proposition 5.4): die Spalte der Lokalität in Tabelle 1, nach der Kapazität des Zustands.",
};

const params = {
    "blocks m": "Blöcke m",
    "the sequence has L = m^2 tokens": "die Folge hat L = m^2 Token",
    "bound M": "Schranke M",
    "numbers are within [-M, M]": "Zahlen liegen in [-M, M]",
    "promised error eps": "zugesagter Fehler eps",
    "what the weights are made for; at most M": "wofür die Gewichte gemacht sind; höchstens M",
    "of the vectors that are averaged or copied, and of a head":
        "der Vektoren, die gemittelt oder kopiert werden, und eines Kopfes",
    "sequences a point": "Folgen je Punkt",
};

const axes = {
    "largest error": "größter Fehler",
    "largest parameter": "größter Parameter",
    "length L": "Länge L",
    tokens: "Token",
    state: "Zustand",
    numbers: "Zahlen",
    dimension: "Dimension",
    "locality m": "Lokalität m",
};

const columns = {
    "AGG, linear attention": "AGG, lineare Attention",
    "COPY, softmax attention": "COPY, Softmax-Attention",
    "COPY, three sparse layers": "COPY, drei dünne Schichten",
    "promised eps": "zugesagtes eps",
    "AGG, in double": "AGG, doppelt genau",
    "COPY, softmax, in double": "COPY, Softmax, doppelt genau",
    "COPY, sparse, in double": "COPY, dünn, doppelt genau",
    "what float can add, AGG": "was float hinzufügen kann, AGG",
    "what float can add, COPY": "was float hinzufügen kann, COPY",
    "what float can add, COPY by sparse layers":
        "was float hinzufügen kann, COPY durch dünne Schichten",
    "errors above eps and rounding": "Fehler über eps und Rundung",
    "L, or 1 / eps": "L oder 1 / eps",
    "over ln(2 L M / eps), AGG": "durch ln(2 L M / eps), AGG",
    "over ln(2 L M / eps), COPY": "durch ln(2 L M / eps), COPY",
    "over ln(2 L M / eps), COPY by sparse layers":
        "durch ln(2 L M / eps), COPY durch dünne Schichten",
    "softmax: a key and a value a token": "softmax: Key und Value je Token",
    "sparse: tokens that later queries see": "sparse: Token, die spätere Queries sehen",
    "linear: the state (s, z)": "linear: der Zustand (s, z)",
    "bytes of a softmax stream with L tokens": "Byte eines Softmax-Streams mit L Token",
    "L: a number a token of input": "L: eine Zahl je Token der Eingabe",
};

export const constructions = { ...lab, ...panels, ...params, ...axes, ...columns };
