/** What panels of separation say, which are many and alike: nets, data, theorems and lemmas by their numbers. */

import { clauses, type Pattern } from "../translator";

const net = clauses([
    [/Softmax regression/, "Softmax-Regression"],
    [/Regression/, "Regression"],
    [/Self-attention/, "Self-Attention"],
    [/(Cross|cross)-attention/, "Cross-Attention"],
    [/^softmax/, "Softmax"],
    [/^linear/, "linear"],
    [/X = ones/, "X = Einsen"],
    [/ over /, " über "],
    [/, within the premises$/, ", innerhalb der Voraussetzungen"],
]);

const entries = (what: string) => (what === "c" ? "c" : "u und f");

const printed = clauses([
    [
        /^At n = 64 t with no randomness: such entries can be decided at every n\./,
        "Bei n = 64 t, ohne Zufall: Solche Einträge sind bei jedem n zu entscheiden.",
    ],
    [
        /Its part 1a is judged as proved, (.*); it prints (.*)\.$/,
        "Teil 1a ist wie bewiesen beurteilt, $1; gedruckt ist $2.",
    ],
    [/Its part 4 prints (.*)\.$/, "Teil 4 druckt $1."],
    [
        /Rows beside the mark's see the mark, too, which its part 5 leaves out; Theorem D\.5 does not need that part\.$/,
        "Auch Zeilen neben der Marke sehen die Marke, was Teil 5 außer Acht lässt; Theorem D.5 braucht diesen Teil nicht.",
    ],
    [/It prints rows of j3 for those of j2\.$/, "Gedruckt sind Zeilen von j3 statt der von j2."],
    [/It prints (.*)\.$/, "Gedruckt ist $1."],
    [/X = ones/, "X = Einsen"],
]);

export const separations: readonly Pattern[] = [
    [
        /^(Softmax regression|Self-attention, X = \w+,|Cross-attention) over \w+(, within the premises)?$/,
        net,
    ],
    [/^(Theorem|Lemma) (\S+): (F_\w+ [=>] 0) for (D[01])$/, "$1 $2: $3 bei $4"],
    [
        /^Lemma (\S+): (u and f|c), (D[01]), (.*)$/,
        (_, lemma = "", what = "", data = "", kind = "") =>
            `Lemma ${lemma}: ${entries(what)}, ${data}, ${net(kind)}`,
    ],
    [
        /^(Regression|Self-attention, X = \w+|Cross-attention): for data from (D[01])(?: and d from (omega\(.*\)) to n)?, (F_\w+ [=>] 0) with probability 1 - delta\/poly\(n\)( or more)? \((.*)\)\.$/,
        (_, of = "", data = "", d = "", value = "", more = "", where = "") =>
            `${net(of)}: Bei Daten aus ${data}${d && ` und d von ${d} bis n`} ist ${value} mit Wahrscheinlichkeit 1 - delta/poly(n)${more && " oder mehr"} (${where}).`,
    ],
    [
        /^What Lemma (\S+) says of the entries of (u and f|c) for data from (D[01]), (.*)\.$/,
        (_, lemma = "", what = "", data = "", kind = "") =>
            `Was Lemma ${lemma} von den Einträgen von ${entries(what)} sagt, bei Daten aus ${data}, ${net(kind)}.`,
    ],
    [/^At n = 64 t with no randomness: .*$/, printed],
    [
        /^([uf]): (mark|others), (mark|others)$/,
        (_, what = "", row = "", key = "") => `${what}: ${places[row]}, ${places[key]}`,
    ],
    [/^mark: its block$/, "Marke: ihr Block"],
    [/^others: the mark's block$/, "andere: Block der Marke"],
    [/^mark: other blocks$/, "Marke: andere Blöcke"],
    [/^others: other blocks$/, "andere: andere Blöcke"],
    [/^mark: column (\w)$/, "Marke: Spalte $1"],
    [/^others: column (\w)$/, "andere: Spalte $1"],
];

const places: Readonly<Record<string, string>> = { mark: "Marke", others: "andere" };
