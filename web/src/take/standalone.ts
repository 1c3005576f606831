/** Pictures of the page as files that need nothing else. */

import { svg } from "../dom/dom";
import { words } from "../words/words";
import { legendBelow, type Entry } from "./legend";

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

/**
 * An SVG picture of the page, with what style sheets give it written into it; below it the legend, which stands beside
 * it there.
 */
export function standaloneSvg(picture: SVGSVGElement, legend: readonly Entry[] = []): string {
    const { x, y, width, height } = picture.viewBox.baseVal;
    const shown = picture.getBoundingClientRect();
    const below = legendBelow(legend, y + height, width);
    if (legend.length > 0) picture.append(below.group); // where style sheets reach it
    const copy = styled(picture);
    below.group.remove();
    const all = height + below.height;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", [x, y, width, all].join(" "));
    copy.setAttribute("width", String(shown.width));
    copy.setAttribute("height", String((shown.height * all) / height));
    const paper = svg("rect", { x, y, width: "100%", height: "100%", fill: paperColour() });
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
}

function styled(picture: SVGElement): SVGElement {
    const copy = picture.cloneNode(true) as SVGElement;
    const originals = [picture, ...picture.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((part, i) => {
        const style = getComputedStyle(originals[i] as Element);
        for (const name of properties) part.setAttribute(name, style.getPropertyValue(name));
        part.removeAttribute("style");
        part.removeAttribute("class");
    });
    return copy;
}

function paperColour(): string {
    return getComputedStyle(document.documentElement).getPropertyValue("--paper");
}

const scale = 2; // pixels of a PNG for one of CSS

/** The same as pixels. */
export async function png(drawn: string): Promise<Blob> {
    const url = URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
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
