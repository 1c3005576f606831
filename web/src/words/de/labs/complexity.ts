/** What the lab of complexity says. */

const locality = (what: string) =>
    `${what} mit L^2 bei Softmax-, L^1.5 bei dünner und L bei linearer Attention (Tabelle 1, Spalte der Lokalität bei festem m: Dort genügt eine feste Dimension).`;
const general = (what: string) =>
    `${what} brauchen mit der Dimension d ~ sqrt L, die allgemeine Aufgaben von dünner und linearer Attention verlangen (Theorem 4.4), alle drei L^2 (Tabelle 1, Spalte „general“).`;

export const complexity = {
    "Time and memory over the length": "Zeit und Speicher über der Länge",
    "Do Efficient Transformers Really Save Computation?, Table 1":
        "Do Efficient Transformers Really Save Computation?, Tabelle 1",
    "Softmax attention takes L^2 time, sparse attention L sqrt L, linear attention L; with the dimension ~ sqrt L that general problems ask of the last two, all take L^2. Sketched attention, which has all pairs and half of the features, is beside them. Times are measured and differ from run to run.":
        "Softmax-Attention braucht L^2 Zeit, dünne L sqrt L, lineare L; mit der Dimension ~ sqrt L, die allgemeine Aufgaben von den beiden letzten verlangen, brauchen alle L^2. Daneben steht Attention auf Sketches, die alle Paare und die Hälfte der Features hat. Zeiten sind gemessen und von Lauf zu Lauf verschieden.",
    "Time of causal attention, one head, one thread":
        "Zeit kausaler Attention, ein Kopf, ein Thread",
    "Measured times grow as the operations that Table 1 counts, L^2 for softmax, L^1.5 for sparse and L for linear attention (Table 1, locality column at constant m: there a constant dimension is enough).":
        locality("Gemessene Zeiten wachsen wie die Operationen, die Tabelle 1 zählt,"),
    "Exponents over L of 2048 or more: one counts for it where its interval comes within 0.05 of the claimed one, against it where not, and is undecided where the interval is wider than 0.5.":
        "Exponenten über L ab 2048: Einer zählt dafür, wo sein Intervall bis auf 0.05 an den behaupteten kommt, dagegen, wo nicht, und ist unentschieden, wo das Intervall breiter ist als 0.5.",
    "At L = 512 to 16384, one head, causal, one thread of the machine that is named.":
        "Bei L = 512 bis 16384, ein Kopf, kausal, ein Thread der Maschine, die genannt ist.",
    "At L = 512 to 16384, one head, causal; bytes of plan and workspace, counted.":
        "Bei L = 512 bis 16384, ein Kopf, kausal; Byte von Plan und Arbeitsspeicher, gezählt.",
    "At L = 512 to 16384, one head, causal; counted, so that nothing else is in the numbers.":
        "Bei L = 512 bis 16384, ein Kopf, kausal; gezählt, sodass nichts anderes in den Zahlen ist.",
    "Counted work grows as L^2 for softmax, L^1.5 for sparse and L for linear attention (Table 1, locality column at constant m: there a constant dimension is enough).":
        locality("Die gezählte Arbeit wächst"),
    "Memory beside the arrays": "Speicher neben den Arrays",
    "No kind of attention needs memory of L^2: beside the arrays it grows as L for softmax and sparse attention at most, and not at all for linear attention.":
        "Keine Art von Attention braucht Speicher von L^2: Neben den Arrays wächst er bei Softmax- und dünner Attention höchstens wie L und bei linearer gar nicht.",
    "Exponents over L: one counts for it where its whole interval is at most 1 (softmax, sparse) or 0 (linear), each and 0.05, against it where the whole interval is above.":
        "Exponenten über L: Einer zählt dafür, wo sein ganzes Intervall höchstens 1 (softmax, sparse) oder 0 (linear) ist, jeweils und 0.05, dagegen, wo das ganze Intervall darüber liegt.",
    "Additions and multiplications, counted": "Additionen und Multiplikationen, gezählt",
    "Exponents over L: one counts for it where its interval comes within 0.05 of the claimed one, against it where not, and is undecided where the interval is wider than 0.5.":
        "Exponenten über L: Einer zählt dafür, wo sein Intervall bis auf 0.05 an den behaupteten kommt, dagegen, wo nicht, und ist unentschieden, wo das Intervall breiter ist als 0.5.",
    "Time where sparse and linear attention have d ~ sqrt L":
        "Zeit, wo dünne und lineare Attention d ~ sqrt L haben",
    "Additions and multiplications where sparse and linear attention have d ~ sqrt L":
        "Additionen und Multiplikationen, wo dünne und lineare Attention d ~ sqrt L haben",
    "In measured time, too, with the d ~ sqrt L that general problems ask of sparse and linear attention (Theorem 4.4), all three take L^2 (Table 1, general column).":
        general("Auch an gemessener Zeit"),
    "In counted work, with the d ~ sqrt L that general problems ask of sparse and linear attention (Theorem 4.4), all three take L^2 (Table 1, general column).":
        general("An gezählter Arbeit"),
    "of queries, keys and values": "von Queries, Keys und Values",
    "growth of d": "Wachstum von d",
    "where d grows: d = growth sqrt L, for sparse and linear attention":
        "wo d wächst: d = growth sqrt L, bei dünner und linearer Attention",
    "time budget": "Zeitbudget",
    "for measuring one kind of attention at one length":
        "um eine Art von Attention bei einer Länge zu messen",
    "processor time": "Prozessorzeit",
    memory: "Speicher",
    bytes: "Byte",
    work: "Arbeit",
    "softmax: plan and workspace": "softmax: Plan und Arbeitsspeicher",
    "sparse: plan and workspace": "sparse: Plan und Arbeitsspeicher",
    "linear: plan and workspace": "linear: Plan und Arbeitsspeicher",
    "sketch: plan and workspace": "sketch: Plan und Arbeitsspeicher",
    "query, key, value and out": "Query, Key, Value und Ausgabe",
};
