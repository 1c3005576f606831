/** An input, and its arrays in the worker: each once. */

import type { Attn, Tensor } from "libattn/worker";
import { PerWorker } from "./bench";
import type { Input } from "../state/types";

interface Tensors {
    query: Tensor;
    key: Tensor;
    value: Tensor;
}

export class Held {
    readonly input: Input;
    #tensors: PerWorker<Tensors>;

    constructor(input: Input) {
        this.input = input;
        this.#tensors = new PerWorker((attn) => hold(attn, input));
    }

    on(attn: Attn): Promise<Tensors> {
        return this.#tensors.on(attn);
    }

    release(): void {
        this.#tensors.discard((tensors) => {
            for (const tensor of Object.values(tensors) as Tensor[]) tensor.dispose();
        });
    }
}

async function hold(attn: Attn, input: Input): Promise<Tensors> {
    const query = await attn.tensor(input.query);
    const key = input.key === input.query ? query : await attn.tensor(input.key);
    const value = input.value === input.query ? query : await attn.tensor(input.value);
    return { query, key, value };
}
