/** Pictures of the page as files that need nothing else. */

import { words } from "../words/words";

const properties = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
];

/** An SVG picture of the page, with what style sheets give it written into it. */
export function standaloneSvg(picture: SVGElement): string {
    const copy = picture.cloneNode(true) as SVGElement;
    const originals = [picture, ...picture.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((part, i) => {
        const style = getComputedStyle(originals[i] as Element);
        for (const name of properties) part.setAttribute(name, style.getPropertyValue(name));
        part.removeAttribute("style");
        part.removeAttribute("class");
    });
    const { width, height } = picture.getBoundingClientRect();
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", "100%");
    paper.setAttribute("height", "100%");
    paper.setAttribute(
        "fill",
        getComputedStyle(document.documentElement).getPropertyValue("--paper"),
    );
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
}

const scale = 2; // pixels of a PNG for one of CSS

/** The same as pixels. */
export async function png(svg: string): Promise<Blob> {
    const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    try {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = scale * image.naturalWidth;
        canvas.height = scale * image.naturalHeight;
        canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
        if (!blob) throw new Error(words.share.noPng);
        return blob;
    } finally {
        URL.revokeObjectURL(url);
    }
}
