/* What an <attn-view> is made of. */

/* A style sheet that is made by a program: policies without 'unsafe-inline' let it be. */
const STYLE = `
:host { display: inline-block; vertical-align: top; inline-size: 20rem; max-inline-size: 100%; font: 0.875rem/1.4 system-ui, sans-serif;
    --_above: var(--attn-above, transparent); --_below: var(--attn-below, transparent); --_broken: var(--attn-broken, transparent);
    --_paper: var(--attn-paper, transparent); --_scheme: light-dark(#fff, #000); --_ink: var(--attn-ink, CanvasText); }
:host([hidden]) { display: none; }
figure { margin: 0; }
.frame { position: relative; border: 1px solid color-mix(in srgb, var(--_ink) 35%, transparent); }
.frame:focus-visible { outline: 2px solid var(--_ink); outline-offset: 2px; }
canvas { display: block; inline-size: 100%; }
.weights { image-rendering: pixelated; }
.mark { position: absolute; inset: 0; block-size: 100%; }
:host([aria-busy="true"]) .weights { opacity: 0.4; }
p { margin: 0.25rem 0 0; overflow-wrap: anywhere; }
.readout { min-block-size: 4.2em; }
.problem { font-weight: 600; }
[hidden] { display: none; }
@media (forced-colors: active) { :host { --_above: CanvasText; --_below: LinkText; --_paper: Canvas; } }
`;

/** A variable's colour as #rrggbb; null: it is transparent, as those are that nobody has set. */
export function colourOf(element, variable) {
    element.style.color = `var(${variable})`;
    const { color } = getComputedStyle(element);
    element.style.color = "";
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: 1, height: 1 });
    const context = canvas.getContext("2d");
    context.fillStyle = color; // in whichever notation
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    const hex = (byte) => byte.toString(16).padStart(2, "0");
    return alpha === 0 ? null : `#${[red, green, blue].map(hex).join("")}`;
}

/** { figure, frame, weights, marked, readout, problem }, in a shadow root. */
export function makeParts(root) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const make = (tag, attributes, ...children) => {
        const made = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
        made.append(...children);
        return made;
    };
    const weights = make("canvas", { class: "weights" });
    const marked = make("canvas", { class: "mark", width: 0 });
    const frame = make("div", { class: "frame", role: "img", tabindex: 0 }, weights, marked);
    const readout = make("p", { class: "readout" });
    const problem = make("p", { class: "problem", role: "alert", hidden: "" });
    frame.hidden = true;
    const figure = make("figure", { lang: "en" }, frame, readout, problem);
    root.append(figure);
    return { figure, frame, weights, marked, readout, problem };
}
