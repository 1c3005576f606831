/** What libattn says of its own backends. What it has no words for here, such as a plugin's, stays as it is. */

import { ofRefusal } from "./refusals";
import { translator, type Pattern } from "./translator";

const backends = {
    "Exact attention by the online softmax, in memory linear in n and m.":
        "Exakte Attention nach dem Online-Softmax, mit Speicher linear in n und m.",
    "Weights from feature maps: cost linear in the length, a state that does not grow.":
        "Gewichte aus Feature-Maps: Kosten linear in der Länge, ein Zustand, der nicht wächst.",
    "Softmax over the keys that a pattern keeps, at a cost that follows them.":
        "Softmax über die Keys, die ein Muster behält; die Kosten folgen ihrer Zahl.",
    "Softmax attention on fewer features: S ~ scale (Q T)(K T)^T, T random.":
        "Softmax-Attention auf weniger Features: S ~ scale (Q T)(K T)^T, T zufällig.",
    "A = D^-1 exp(Q K^T / sqrt(d)): arXiv:2310.11685, Eq. 1; online: arXiv:1805.02867":
        "A = D^-1 exp(Q K^T / sqrt(d)): arXiv:2310.11685, Gl. 1; online: arXiv:1805.02867",
    "elu1: arXiv:2006.16236, Eq. 7; lin: arXiv:2310.11685, Def. 3.2; favor: arXiv:2009.14794; taylor2: arXiv:2402.18668; rules: ONNX LinearAttention":
        "elu1: arXiv:2006.16236, Gl. 7; lin: arXiv:2310.11685, Def. 3.2; favor: arXiv:2009.14794; taylor2: arXiv:2402.18668; Regeln: ONNX LinearAttention",
    "arXiv:2402.13934, Eq. 6": "arXiv:2402.13934, Gl. 6",
    "arXiv:2304.04397, Definitions 2.4 to 2.6 and Algorithm 1":
        "arXiv:2304.04397, Definitionen 2.4 bis 2.6 und Algorithmus 1",
};

const softmax = {
    Precision: "Genauigkeit",
    "what products are of, at least: f32; bf16, or three of them for each (bf16x3), where the processor multiplies those faster; integers with scales, which sparse takes for f32; auto: bf16 for inputs that are all bf16, else f32":
        "woraus Produkte mindestens sind: f32; bf16, oder je drei davon (bf16x3), wo der Prozessor diese schneller multipliziert; ganze Zahlen mit Skalen, die sparse als f32 nimmt; auto: bf16, wenn alle Eingaben bf16 sind, sonst f32",
};

const linear = {
    "feature map": "Feature-Map",
    "phi: elu1 elu(x)+1; lin x (signed weights); relu max(x, 0); relu2 max(x, 0)^2; exp e^x; favor random features with exp(x.y) on average (Performer); taylor2 1+x.y+(x.y)^2/2 (Based); applied to queries and keys":
        "phi: elu1 elu(x)+1; lin x (Gewichte mit Vorzeichen); relu max(x, 0); relu2 max(x, 0)^2; exp e^x; favor zufällige Features mit exp(x.y) im Mittel (Performer); taylor2 1+x.y+(x.y)^2/2 (Based); angewandt auf Queries und Keys",
    "update rule": "Update-Regel",
    "how a token changes the state: adds to it, what is there decays first (gated), what its key finds is taken away first (delta), or both":
        "wie ein Token den Zustand ändert: kommt hinzu, Vorhandenes klingt erst ab (gated), was sein Key findet, wird erst abgezogen (delta), oder beides",
    normaliser: "Normierer",
    "divide by the sum of weights; auto: not with the delta rules":
        "durch die Summe der Gewichte teilen; auto: nicht bei den delta-Regeln",
    "random features": "zufällige Features",
    "of feature_map favor": "von feature_map favor",
    seed: "Seed",
    "of favor's random features: the same seed gives the same":
        "der zufälligen Features von favor: derselbe Seed gibt dieselben",
    "RetNet's decay": "Abklingen nach RetNet",
    "with a gated rule and no array decay: head h keeps 1 - 2^(-5-h) a token":
        "bei einer gated-Regel ohne Array decay: Kopf h behält je Token 1 - 2^(-5-h)",
    "what all tokens come to": "was alle Token ergeben",
    "the same of the normaliser": "dasselbe vom Normierer",
};

const sparse = {
    "block size B": "Blockgröße B",
    "B: keys a block": "B: Keys je Block",
    keys: "Keys",
    blocks: "Blöcke",
    "local blocks k": "lokale Blöcke k",
    "k: each query sees the nearest k*B keys": "k: Jede Query sieht die nächsten k*B Keys",
    "global c": "globale c",
    "c: keys (bigbird: blocks) that all see": "c: Keys (bigbird: Blöcke), die alle sehen",
    pattern: "Muster",
    "which keys a query sees; band: the last k*B keys and the last c of every block; fixed: the last k blocks and the last c of every block; strided: the last k blocks and every stride-th; window: the nearest k*B keys; longformer: those and the first c, which see all; bigbird: the nearest k blocks, the first c, random ones; dilated: every stride-th of the nearest k*B*stride keys; topk: the nearest k blocks, the top others by the mean of their keys; topkeys: the top keys by their logits; lsh: those that share a bucket in a round; blocks: those of the arrays":
        "welche Keys eine Query sieht; band: die letzten k*B Keys und die letzten c jedes Blocks; fixed: die letzten k Blöcke und die letzten c jedes Blocks; strided: die letzten k Blöcke und jeder stride-te; window: die nächsten k*B Keys; longformer: diese und die ersten c, die alle sehen; bigbird: die nächsten k Blöcke, die ersten c, zufällige; dilated: jeder stride-te der nächsten k*B*stride Keys; topk: die nächsten k Blöcke, die besten anderen nach dem Mittel ihrer Keys; topkeys: die besten Keys nach ihren Logits; lsh: die in einer Runde im selben Bucket liegen; blocks: die der Arrays",
    stride: "Schrittweite",
    "strided: blocks; dilated: keys": "strided: Blöcke; dilated: Keys",
    "random blocks": "zufällige Blöcke",
    "of bigbird, a row of blocks": "von bigbird, je Blockzeile",
    "of random blocks and rotations": "der zufälligen Blöcke und Drehungen",
    entries: "Einträge",
    "room of block_columns": "Platz von block_columns",
    "as many as there are blocks": "so viele, wie es Blöcke gibt",
    chosen: "gewählte",
    "topk: blocks of others; topkeys: keys a query": "topk: andere Blöcke; topkeys: Keys je Query",
    buckets: "Buckets",
    "of lsh, a round: 1 or even": "von lsh, je Runde: 1 oder gerade",
    "as many as blocks, or one more": "so viele wie Blöcke, oder einer mehr",
    rounds: "Runden",
    "of lsh": "von lsh",
    shared: "gemeinsam",
    "lsh: 1 where keys are the queries: none sees itself beside others":
        "lsh: 1, wo die Keys die Queries sind: Keine sieht sich selbst neben anderen",
};

const sketch = {
    method: "Methode",
    "how features are mixed, sampled (leverage, approximate) or weighed (deterministic)":
        "wie Features gemischt, gezogen (leverage, approximate) oder gewichtet werden (deterministic)",
    "of [Q; K] at most, n where Q = K: leverage, approximate, deterministic":
        "von [Q; K] höchstens, n, wo Q = K: leverage, approximate, deterministic",
    factor: "Faktor",
    "approximate: what scores may be off by, faster and of more features":
        "approximate: um welchen Faktor Scores abweichen dürfen, schneller und mit mehr Features",
    "sketch size": "Sketch-Größe",
    "features that are left; all of them, or more: exact":
        "Features, die bleiben; alle oder mehr: exakt",
    features: "Features",
    "what the bound for eps and delta asks, or d/2":
        "was die Schranke für eps und delta verlangt, oder d/2",
    error: "Fehler",
    "relative, of the logits, for the automatic size":
        "relativ, der Logits, für die automatische Größe",
    "failure probability": "Ausfallwahrscheinlichkeit",
    "that a head is without the guarantee": "dass ein Kopf ohne die Garantie bleibt",
    "of the draws": "der Ziehungen",
    rank: "Rang",
    "rows of [Q; K], at most d": "Zeilen von [Q; K], höchstens d",
    sparsity: "Besetzung",
    "osnap: features that each one goes into": "osnap: Features, in die jedes eingeht",
    "4, or all where there are fewer": "4, oder alle, wo es weniger sind",
    "all features kept": "alle Features behalten",
    no: "nein",
    yes: "ja",
    guarantee: "Garantie",
};

/** Those with numbers in them. */
const patterns: Pattern[] = [
    [/^exact: all (\d+) features are kept$/, "exakt: Alle $1 Features bleiben"],
    [
        /^none: the bound asks for (\d+) of (\d+) features$/,
        "keine: Die Schranke verlangt $1 von $2 Features",
    ],
    [
        /^none: the bound asks for (\d+) of (\d+) features \(at eps = 1\)$/,
        "keine: Die Schranke verlangt $1 von $2 Features (bei eps = 1)",
    ],
    [
        /^all logits within (.*), with probability (\S+)$/,
        "alle Logits bis auf $1, mit Wahrscheinlichkeit $2",
    ],
    [/^(\|\|.*) in a head, with probability (\S+)$/, "$1 in einem Kopf, mit Wahrscheinlichkeit $2"],
    [
        /^(X' X'\^T) within (.*) of (.*), with probability (\S+)$/,
        "$1 bis auf $2 bei $3, mit Wahrscheinlichkeit $4",
    ],
];

const ofBackends = translator(
    { ...backends, ...softmax, ...linear, ...sparse, ...sketch },
    patterns,
);

export const ofLibrary = (text: string): string => ofRefusal(ofBackends(text));
