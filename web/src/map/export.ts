/** What a picture that is saved has beside its cells and axes: a title above, and its colours with their values below. */

import { shade, valueAt, type ColourLaw, type Theme } from "./colors";
import { short } from "../dom/format";
import type { Surface } from "../take/surface";

const family = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const titleHeight = 28; // pixels, like all of these
const [barWidth, barHeight, barRoom] = [240, 10, 44];
const steps = 60; // of colour

/** Returns its height. */
export function titleAbove(surface: Surface, title: string, { ink }: Theme): number {
    surface.font = `bold 16px ${family}`;
    surface.fillStyle = ink;
    surface.textAlign = "left";
    surface.textBaseline = "alphabetic";
    surface.fillText(title, 8, titleHeight - 9);
    return titleHeight;
}

interface Scale {
    top: number;
    left: number;
    /** The value with the strongest colour. */
    max: number;
    law: ColourLaw;
    /** From -max on, else from 0. */
    signed: boolean;
}

/** Returns its height. */
export function barBelow(surface: Surface, scale: Scale, theme: Theme): number {
    const { top, left, max, law, signed } = scale;
    const from = signed ? -1 : 0;
    const y = top + 8;
    for (let step = 0; step < steps; step++) {
        const place = from + ((1 - from) * (step + 0.5)) / steps;
        const x = left + (barWidth * step) / steps;
        surface.fillStyle = colourAt(law === "kept" ? shade(place, 1, law) : place, theme);
        surface.beginPath();
        surface.moveTo(x, y);
        surface.lineTo(x + barWidth / steps, y);
        surface.lineTo(x + barWidth / steps, y + barHeight);
        surface.lineTo(x, y + barHeight);
        surface.fill();
    }
    surface.font = `13px ${family}`;
    surface.fillStyle = theme.muted;
    surface.textAlign = "center";
    for (const place of signed ? [-1, 0, 1] : [0, 0.5, 1]) {
        const x = left + (barWidth * (place - from)) / (1 - from);
        surface.fillText(short(valueAt(place, max, law), 2), x, y + barHeight + 15);
    }
    return barRoom;
}

/** Of a place from -1 to 1. */
function colourAt(place: number, { palette }: Theme): string {
    const half = (palette.length / 4 - 1) / 2;
    const entry = 4 * (half + Math.round(half * place));
    const [red = 0, green = 0, blue = 0] = palette.subarray(entry, entry + 3);
    return `rgb(${red} ${green} ${blue})`;
}
