/** All words that a visitor reads of a page that has them in several languages, in the language of that page. */

import { words as english } from "./en/words";

/** One of something, and several. */
export type Noun = [one: string, many: string];

export type Words = typeof english;

/** Of the page; a worker has none. */
export const language = typeof document === "undefined" ? "en" : document.documentElement.lang;

/** German comes when a German page asks for it. A table imports nothing: all else waits for it. */
export const words: Words = language === "de" ? (await import("./de/words")).words : english;
