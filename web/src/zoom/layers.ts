/** Pictures of a matrix that have been drawn: what another region looks like until its weights are there. */

import { resize } from "../dom/dom";
import type { Grid } from "../state/types";
import type { Box } from "../map/drawing";
import { contains, isSame, type Region } from "./region";

interface Layer {
    image: HTMLCanvasElement;
    region: Region;
}

export class Layers {
    /** Of the grid. */
    #latest: Layer | null = null;
    /** The one that shows most; it may be the same. */
    #widest: Layer | null = null;

    /** Of the latest grid; null: there was none. */
    get image(): HTMLCanvasElement | null {
        return this.#latest?.image ?? null;
    }

    take({ rows, columns, query, queries, key, keys }: Grid, data: ImageData): void {
        const region = { query, queries, key, keys };
        const last = this.#latest;
        const isFree = last && (last !== this.#widest || isSame(last.region, region));
        const image = isFree ? last.image : document.createElement("canvas");
        resize(image, columns, rows);
        image.getContext("2d")?.putImageData(data, 0, 0);
        this.#latest = { image, region };
        if (!this.#widest || contains(region, this.#widest.region)) this.#widest = this.#latest;
    }

    forget(): void {
        this.#widest = null;
    }

    /** Draw a region into a box, as far as it has been drawn before. */
    draw(
        context: CanvasRenderingContext2D,
        region: Region,
        { left, top, width, height }: Box,
    ): void {
        for (const layer of new Set([this.#widest, this.#latest])) {
            if (!layer) continue;
            const { image, region: drawn } = layer;
            const across = common(drawn.key, drawn.keys, region.key, region.keys);
            const down = common(drawn.query, drawn.queries, region.query, region.queries);
            if (!across || !down) continue;
            const [x, w] = inPixels(across, drawn.key, drawn.keys, image.width);
            const [y, h] = inPixels(down, drawn.query, drawn.queries, image.height);
            const [toX, toW] = inPixels(across, region.key, region.keys, width);
            const [toY, toH] = inPixels(down, region.query, region.queries, height);
            context.drawImage(image, x, y, w, h, left + toX, top + toY, toW, toH);
        }
    }
}

type Range = readonly [first: number, end: number];

/** What two ranges of queries or keys, each a first one and a count, have in common; null: nothing. */
function common(one: number, count: number, other: number, size: number): Range | null {
    const [first, end] = [Math.max(one, other), Math.min(one + count, other + size)];
    return first < end ? [first, end] : null;
}

/** Where a range begins, and how long it is, in a picture so long of so many from `from` on. */
function inPixels([first, end]: Range, from: number, count: number, pixels: number) {
    return [((first - from) / count) * pixels, ((end - first) / count) * pixels] as const;
}
