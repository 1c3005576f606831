/** Wheel, two fingers and dragging on a picture, by which it is zoomed and moved. */

import type { Place } from "./region";

/** What gestures are made on. */
interface Zoomed {
    /** What is drawn at a point of the element, between queries, too; null: nothing. */
    placeAt(x: number, y: number): Place | null;
    zoom(factor: number, at: Place): void;
    move(by: Place): void;
}

const perPixel = 0.002; // of a wheel: a notch is 100 pixels
const perPinched = 0.01; // the same of a touchpad, whose pinch comes as a wheel with Ctrl
const line = 16; // pixels of wheels that count in lines
const slack = 4; // pixels that a click may move

/** A wheel alone scrolls the page, but for a picture that has the focus. One finger, too: two zoom and move. */
export function listen(element: HTMLElement, zoomed: Zoomed): void {
    element.addEventListener(
        "wheel",
        (event) => {
            const { offsetX, offsetY, ctrlKey, metaKey, deltaY, deltaMode } = event;
            const isMeant = ctrlKey || metaKey || document.activeElement === element;
            const at = isMeant && zoomed.placeAt(offsetX, offsetY);
            if (!at) return;
            event.preventDefault();
            const pixels = deltaMode === WheelEvent.DOM_DELTA_PIXEL ? deltaY : line * deltaY;
            const isPinch = ctrlKey && Math.abs(pixels) < line;
            zoomed.zoom(Math.exp((isPinch ? perPinched : perPixel) * pixels), at);
        },
        { passive: false },
    );
    listenForDragging(element, zoomed);
    listenForFingers(element, zoomed);
}

function listenForDragging(element: HTMLElement, zoomed: Zoomed): void {
    let from: { x: number; y: number; place: Place } | null = null;
    let isDragged = false;
    element.addEventListener("pointerdown", ({ pointerType, button, offsetX: x, offsetY: y }) => {
        const place = zoomed.placeAt(x, y);
        from = pointerType === "mouse" && button === 0 && place ? { x, y, place } : null;
        isDragged = false;
    });
    element.addEventListener("pointermove", ({ buttons, pointerId, offsetX: x, offsetY: y }) => {
        if (!from || buttons !== 1) return;
        if (!isDragged && Math.hypot(x - from.x, y - from.y) < slack) return;
        if (!isDragged) element.setPointerCapture(pointerId);
        isDragged = true;
        follow(zoomed, from.place, zoomed.placeAt(x, y));
    });
    element.addEventListener(
        "click",
        (event) => {
            if (isDragged) event.stopImmediatePropagation();
            isDragged = false;
        },
        { capture: true },
    );
}

function listenForFingers(element: HTMLElement, zoomed: Zoomed): void {
    let last: { apart: number; place: Place } | null = null;
    const stop = () => (last = null);
    element.addEventListener("touchstart", stop, { passive: true });
    element.addEventListener("touchend", stop);
    element.addEventListener("touchcancel", stop);
    element.addEventListener(
        "touchmove",
        (event) => {
            const [one, other] = event.touches;
            if (!one || !other) return;
            event.preventDefault();
            const { left, top } = element.getBoundingClientRect();
            const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
            const middle = zoomed.placeAt(
                (one.clientX + other.clientX) / 2 - left,
                (one.clientY + other.clientY) / 2 - top,
            );
            if (last) follow(zoomed, last.place, middle);
            if (last && middle && apart > 0) zoomed.zoom(last.apart / apart, last.place);
            const place: Place | null = last?.place ?? middle;
            last = place && { apart, place };
        },
        { passive: false },
    );
}

/** What was at `from` comes to where `to` is drawn. */
function follow(zoomed: Zoomed, from: Place, to: Place | null): void {
    if (to) zoomed.move({ query: from.query - to.query, key: from.key - to.key });
}
