/** What the reader chose, as a link has it. */

import { models, type Model } from "./models";

export interface Choice {
    model: Model;
    question: string;
    /** How many tokens the model has read; null: all. */
    token: number | null;
    layer: number;
    head: number;
}

/** What an address says wrongly, or not, is as at first. */
export function readChoice(hash: string): Choice {
    const query = new URLSearchParams(hash.replace(/^#/, ""));
    const model = models.find(({ id }) => id === query.get("model")) ?? models[0];
    if (!model) throw new Error("there are no models");
    const number = (name: string) => {
        const text = query.get(name) ?? "";
        return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null;
    };
    return {
        model,
        question: query.get("question") ?? model.example,
        token: number("token"),
        layer: (number("layer") ?? 1) - 1,
        head: (number("head") ?? 1) - 1,
    };
}

export function writeChoice({ model, question, token, layer, head }: Choice): string {
    const query = new URLSearchParams({ model: model.id, question });
    if (token !== null) query.set("token", String(token));
    if (layer > 0) query.set("layer", String(layer + 1));
    if (head > 0) query.set("head", String(head + 1));
    return query.toString();
}
