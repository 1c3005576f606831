/** What a heatmap is drawn on: a canvas, or an SVG picture that is made of the same calls. */

import { escaped } from "../../escaped.js";

export type Surface = Pick<
    CanvasRenderingContext2D,
    | "font"
    | "fillStyle"
    | "strokeStyle"
    | "lineWidth"
    | "globalAlpha"
    | "textAlign"
    | "textBaseline"
    | "imageSmoothingEnabled"
    | "measureText"
    | "fillText"
    | "strokeRect"
    | "save"
    | "restore"
    | "translate"
    | "rotate"
    | "beginPath"
    | "moveTo"
    | "lineTo"
    | "fill"
> & { drawImage(image: HTMLCanvasElement, x: number, y: number, w: number, h: number): void };

const anchors: Partial<Record<CanvasTextAlign, string>> = { right: "end", center: "middle" };
const baselines: Partial<Record<CanvasTextBaseline, string>> = {
    middle: "central",
    top: "text-before-edge",
};

export class SvgSurface implements Surface {
    font = "10px sans-serif";
    fillStyle: string | CanvasGradient | CanvasPattern = "#000";
    strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
    lineWidth = 1;
    globalAlpha = 1;
    textAlign: CanvasTextAlign = "start";
    textBaseline: CanvasTextBaseline = "alphabetic";
    imageSmoothingEnabled = true;
    #parts: string[] = [];
    #transforms: string[] = [];
    #depths: number[] = [];
    #path = "";
    #ruler: CanvasRenderingContext2D;

    /** `ruler`: measures text. */
    constructor(ruler: CanvasRenderingContext2D) {
        this.#ruler = ruler;
    }

    /** All that was drawn, on paper. */
    picture(width: number, height: number, paper: string, title: string): string {
        return [
            `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"`,
            ` width="${width}" height="${height}" role="img">`,
            `<title>${escaped(title)}</title>`,
            `<rect width="${width}" height="${height}" fill="${escaped(paper)}"/>`,
            ...this.#parts,
            "</svg>",
        ].join("");
    }

    measureText(text: string): TextMetrics {
        this.#ruler.font = this.font;
        return this.#ruler.measureText(text);
    }

    fillText(text: string, x: number, y: number): void {
        const style = `font:${escaped(this.font)}`;
        const anchor = anchors[this.textAlign] ?? "start";
        const baseline = baselines[this.textBaseline] ?? "alphabetic";
        const place = `x="${x}" y="${y}" text-anchor="${anchor}" dominant-baseline="${baseline}"`;
        this.#add(
            `<text ${place} style="${style}" fill="${colour(this.fillStyle)}">${escaped(text)}</text>`,
        );
    }

    strokeRect(x: number, y: number, width: number, height: number): void {
        const line = `stroke="${colour(this.strokeStyle)}" stroke-width="${this.lineWidth}"`;
        const place = `x="${x}" y="${y}" width="${width}" height="${height}"`;
        this.#add(`<rect ${place} fill="none" ${line} stroke-opacity="${this.globalAlpha}"/>`);
    }

    drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
        const place = `x="${x}" y="${y}" width="${width}" height="${height}"`;
        const sharp = 'preserveAspectRatio="none" style="image-rendering:pixelated"';
        this.#add(`<image ${place} ${sharp} href="${image.toDataURL()}"/>`);
    }

    save(): void {
        this.#depths.push(this.#transforms.length);
    }

    restore(): void {
        this.#transforms.length = this.#depths.pop() ?? 0;
    }

    translate(x: number, y: number): void {
        this.#transforms.push(`translate(${x} ${y})`);
    }

    rotate(angle: number): void {
        this.#transforms.push(`rotate(${(angle * 180) / Math.PI})`);
    }

    beginPath(): void {
        this.#path = "";
    }

    moveTo(x: number, y: number): void {
        this.#path += `M${x} ${y}`;
    }

    lineTo(x: number, y: number): void {
        this.#path += `L${x} ${y}`;
    }

    fill(): void {
        this.#add(`<path d="${this.#path}" fill="${colour(this.fillStyle)}"/>`);
    }

    #add(part: string): void {
        const transform = this.#transforms.join(" ");
        this.#parts.push(transform ? `<g transform="${transform}">${part}</g>` : part);
    }
}

function colour(style: string | CanvasGradient | CanvasPattern): string {
    return typeof style === "string" ? escaped(style) : "none";
}
