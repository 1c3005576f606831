/** Numbers as people read them. */

import { words, type Noun } from "../words/words";

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const minus = "−";

/** As the page's language writes it. */
function decimal(text: string): string {
    return text.replace(".", words.numbers.decimalPoint);
}

function superscript(exponent: number): string {
    const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[Number(digit)]);
    return (exponent < 0 ? "⁻" : "") + digits.join("");
}

/** `digits` significant digits: 0.01235, 12.35, 1.235 × 10⁻⁷. */
export function significant(value: number, digits = 4): string {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : `${minus}∞`;
    if (value === 0) return "0";
    const [mantissa = "", power = "0"] = value.toExponential(digits - 1).split("e");
    const exponent = Number(power);
    const text =
        exponent < -4 || exponent > 6
            ? `${mantissa} × 10${superscript(exponent)}`
            : value.toFixed(Math.max(0, digits - 1 - exponent));
    return decimal(text.replace("-", minus));
}

/** A number without the zeros that say nothing: 0.5, 12, 0.031. What may be counted is not rounded. */
export function short(value: number, digits = 3): string {
    if (!Number.isFinite(value)) return significant(value);
    if (Number.isSafeInteger(value)) return String(value).replace("-", minus);
    const rounded = Number(value.toPrecision(digits));
    const size = Math.abs(rounded);
    return size < 1e-4 || size >= 1e7
        ? significant(rounded, digits)
        : decimal(String(rounded).replace("-", minus));
}

/** A number beside an axis: its digits as they are, and great and small powers of ten as powers. */
export function tick(value: number): string {
    const size = Math.abs(value);
    if (size === 0 || (size >= 1e-4 && size < 1e7))
        return decimal(String(Number(value.toPrecision(10))).replace("-", minus));
    const [mantissa = "", power = "0"] = Number(value.toPrecision(10)).toExponential().split("e");
    const factor = mantissa === "1" ? "" : `${mantissa.replace("-", minus)} × `;
    return `${factor}10${superscript(Number(power))}`;
}

const leastPart = 1e-6; // whose percentage still tells something

export function milliseconds(value: number): string {
    return `${value < 0.0995 ? significant(value, 2) : significant(value, 3)} ms`;
}

/** 100 % is all of it, and 0 % nothing: what is near is not rounded to them. */
export function percent(fraction: number): string {
    if (fraction === 1) return "100 %";
    if (fraction > 0 && fraction < leastPart) return `< ${significant(100 * leastPart, 1)} %`;
    return `${significant(Math.min(100 * fraction, 99.9), 3)} %`;
}

export function bytes(count: number): string {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    let value = count;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    return `${unit === 0 ? value : significant(value, 3)} ${units[unit]}`;
}

/** `noun`: of one, and of several. */
export function count(number: number, one: string | Noun, many = `${String(one)}s`): string {
    if (typeof one !== "string") return count(number, ...one);
    const digits = String(number).replaceAll(/\B(?=(\d{3})+$)/g, "\u202f"); // toLocaleString() takes 50 ms once
    return `${digits} ${number === 1 ? one : many}`;
}
