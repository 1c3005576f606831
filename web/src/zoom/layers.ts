/** Pictures of a matrix that have been drawn: what another region looks like until its weights are there. */

import type { Grid } from "../types";
import { contains, isSame, type Region } from "./region";

const side = 512; // pixels of a preview

interface Layer {
    image: HTMLCanvasElement;
    region: Region;
}

export class Layers {
    /** Of the grid. */
    #latest: Layer | null = null;
    /** The one that shows most; it may be the same. */
    #widest: Layer | null = null;
    #preview = document.createElement("canvas");

    /** Of the latest grid. */
    get image(): HTMLCanvasElement {
        return this.#latest?.image ?? this.#preview;
    }

    take({ rows, columns, query, queries, key, keys }: Grid, data: ImageData): void {
        const region = { query, queries, key, keys };
        const last = this.#latest;
        const isFree = last && (last !== this.#widest || isSame(last.region, region));
        const image = isFree ? last.image : document.createElement("canvas");
        image.width = columns;
        image.height = rows;
        image.getContext("2d")?.putImageData(data, 0, 0);
        this.#latest = { image, region };
        if (!this.#widest || contains(region, this.#widest.region)) this.#widest = this.#latest;
    }

    forget(): void {
        this.#widest = null;
    }

    /** The region, as far as it has been drawn. */
    preview(region: Region): HTMLCanvasElement {
        this.#preview.width = this.#preview.height = side; // which clears it
        const context = this.#preview.getContext("2d");
        if (!context) return this.#preview;
        context.imageSmoothingEnabled = false;
        const [across, down] = [side / region.keys, side / region.queries];
        for (const layer of [this.#widest, this.#latest]) {
            if (!layer) continue;
            const { query, queries, key, keys } = layer.region;
            const [x, y] = [(key - region.key) * across, (query - region.query) * down];
            context.drawImage(layer.image, x, y, keys * across, queries * down);
        }
        return this.#preview;
    }
}
