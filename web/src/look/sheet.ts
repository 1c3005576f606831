/** Heads side by side as one picture, to be saved. */

import type { Theme } from "../map/colors";
import { SvgSurface } from "../take/surface";

export interface Tile {
    image: HTMLCanvasElement;
    /** Below it. */
    lines: readonly string[];
}

const [side, gap, line] = [120, 12, 16]; // pixels

/** As SVG, so many of them in a row. */
export function sheet(tiles: readonly Tile[], perRow: number, theme: Theme, title: string): string {
    const ruler = document.createElement("canvas").getContext("2d");
    if (!ruler) throw new Error("this browser has no 2D canvas");
    const surface = new SvgSurface(ruler);
    surface.font = `${line - 5}px sans-serif`;
    surface.fillStyle = theme.ink;
    surface.textBaseline = "top";
    surface.imageSmoothingEnabled = false;
    const lines = Math.max(...tiles.map((tile) => tile.lines.length));
    const height = side + line * lines + gap;
    tiles.forEach((tile, i) => {
        const x = gap + (i % perRow) * (side + gap);
        const y = gap + Math.floor(i / perRow) * height;
        surface.drawImage(tile.image, x, y, side, side);
        tile.lines.forEach((text, j) => surface.fillText(text, x, y + side + 2 + j * line));
    });
    const columns = Math.min(perRow, tiles.length);
    const rows = Math.ceil(tiles.length / perRow);
    return surface.picture(gap + columns * (side + gap), gap + rows * height, theme.paper, title);
}
