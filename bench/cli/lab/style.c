/* cli/lab/style.c: see style.h. */
#include "cli/lab/style.h"

#include <math.h>

const style_colour_t style_paper[STYLE_SCHEMES] = {{0xff, 0xff, 0xff}, {0x16, 0x18, 0x1c}};
const style_colour_t style_tile[STYLE_SCHEMES] = {{0x00, 0x67, 0xb1}, {0x5c, 0xb3, 0xff}};

/* WCAG 2: relative luminance, of a channel that lies between two. */
static double luminance(double below, double above, double opacity) {
    const double value = (below + (above - below) * opacity) / 255;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

int style_wants_white(int scheme, double opacity) {
    const style_colour_t below = style_paper[scheme], above = style_tile[scheme];
    const double light = 0.2126 * luminance(below.red, above.red, opacity) +
                         0.7152 * luminance(below.green, above.green, opacity) +
                         0.0722 * luminance(below.blue, above.blue, opacity);
    return 1.05 / (light + 0.05) > (light + 0.05) / 0.05; /* contrasts with white, with black */
}

/*
 * The first lines, which are drawn first, are thicker: they stay visible below others that take the same
 * way. Colours that people with a colour vision deficiency tell apart, after Okabe and
 * Ito.
 */
const char figure_style[] =
    ".figure text { font: 12px system-ui, -apple-system, 'Liberation Sans', sans-serif; "
    "fill: #333 }\n"
    ".figure .title { font-size: 14px; font-weight: 600; fill: #111 }\n"
    ".figure .small { font-size: 11.5px; fill: #666 }\n"
    ".figure .claim, .figure .verdict { fill: #222 }\n"
    ".figure .verdict { font-weight: 600 }\n"
    ".figure .power { font-size: 9px }\n"
    ".figure .paper { fill: #fff }\n"
    ".figure .frame { fill: none; stroke: #888 }\n"
    ".figure .grid { fill: none; stroke: #e4e4e4 }\n"
    ".figure .outside { fill: #000; fill-opacity: .07 }\n"
    ".figure .tile { fill: #0067b1 }\n"
    ".figure .no-tile { fill: none; stroke: #999; stroke-dasharray: 2 3 }\n"
    ".figure .on-tile { fill: #000 }\n"
    ".figure .white { fill: #fff }\n"
    ".figure .curve, .figure .sample { fill: none; stroke: currentColor; stroke-width: 2; "
    "stroke-linejoin: round }\n"
    ".figure .line.colour0 { stroke-width: 2.8 }\n"
    ".figure .line.colour1 { stroke-width: 2.3 }\n"
    ".figure .faint { stroke-width: 1.2 }\n"
    ".figure .bound { color: #333; stroke-width: 1.6 }\n"
    ".figure .dash0 { stroke-dasharray: 7 4 }\n"
    ".figure .dash1 { stroke-dasharray: 2 3 }\n"
    ".figure .dash2 { stroke-dasharray: 10 3 2 3 }\n"
    ".figure .dash3 { stroke-dasharray: 6 6 }\n"
    ".figure .band { fill: currentColor; fill-opacity: .15 }\n"
    ".figure .dots, .figure .zero { fill: currentColor }\n"
    ".figure .colour0 { color: #0067b1 }\n"
    ".figure .colour1 { color: #d05a00 }\n"
    ".figure .colour2 { color: #008f66 }\n"
    ".figure .colour3 { color: #b3478f }\n"
    ".figure .colour4 { color: #8a6d00 }\n"
    ".figure .colour5 { color: #2f9bd0 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".figure text { fill: #ccc }\n"
    ".figure .title { fill: #eee }\n"
    ".figure .claim, .figure .verdict { fill: #ddd }\n"
    ".figure .small { fill: #9a9a9a }\n"
    ".figure .paper { fill: #16181c }\n"
    ".figure .frame { stroke: #777 }\n"
    ".figure .grid { stroke: #2c3036 }\n"
    ".figure .outside { fill: #fff; fill-opacity: .08 }\n"
    ".figure .tile { fill: #5cb3ff }\n"
    ".figure .on-tile { fill: #000 }\n"
    ".figure .white-at-night { fill: #fff }\n"
    ".figure .bound { color: #ddd }\n"
    ".figure .colour0 { color: #5cb3ff }\n"
    ".figure .colour1 { color: #ff9d4d }\n"
    ".figure .colour2 { color: #3fd0a0 }\n"
    ".figure .colour3 { color: #e38bc6 }\n"
    ".figure .colour4 { color: #e0c14a }\n"
    ".figure .colour5 { color: #9ad7f5 }\n"
    "}\n";

const char report_style[] =
    ":root { color-scheme: light dark; --paper: #fff; --page: #f3f4f6; --ink: #222; "
    "--quiet: #5c6370; --line: #d9dce1; --link: #0067b1 }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --page: #0c0d10; "
    "--ink: #ddd; --quiet: #9aa0aa; --line: #2c3036; --link: #5cb3ff } }\n"
    "body { margin: 0 auto; max-width: 1400px; padding: 24px; background: var(--page); "
    "color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Liberation Sans', sans-serif }\n"
    "h1 { font-size: 26px; margin: 0 0 8px } h2 { font-size: 20px; margin: 40px 0 4px }\n"
    "a { color: var(--link) }\n"
    "p { max-width: 75ch; margin: 4px 0 12px }\n"
    ".quiet { color: var(--quiet) }\n"
    "nav ul { padding: 0; list-style: none } nav li { margin: 2px 0 }\n"
    "nav .panels { margin-left: 10px } nav .panels a { margin-right: 8px }\n"
    ".figures { display: grid; gap: 20px; "
    "grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)) }\n"
    "figure { margin: 0; background: var(--paper); border: 1px solid var(--line); "
    "border-radius: 8px; overflow: hidden; display: flex; flex-direction: column; "
    "justify-content: space-between }\n"
    ".scroll { overflow-x: auto }\n"
    ".scroll img { display: block; width: 100%; min-width: 500px; height: auto }\n"
    "figcaption { border-top: 1px solid var(--line); padding: 10px 18px 12px; font-size: 14px }\n"
    "figcaption code { display: block; overflow-wrap: anywhere; padding-bottom: 4px; "
    "font: 12.5px ui-monospace, 'Liberation Mono', monospace }\n"
    "figcaption a { margin-right: 14px }\n"
    "@media (max-width: 600px) { body { padding: 12px } h2 { margin-top: 28px } }\n"
    "@media print { figure { break-inside: avoid } body { background: none } }\n";
