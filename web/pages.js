/**
 * The site's pages, in the order in which they name each other, the languages in which there are some, and the entry
 * of the navigation that several stand in; null: one of its own.
 */
export const pages = [
    { name: "index", group: null, languages: ["en", "de"] },
    { name: "story", group: null, languages: ["en", "de"] },
    { name: "thinking", group: "models", languages: ["en", "de"] },
    { name: "training", group: "models", languages: ["en", "de"] },
    { name: "figures", group: "papers", languages: ["en", "de"] },
    { name: "labs", group: "papers", languages: ["en", "de"] },
];

/** A page's file: the English one has the words' places, too. */
export function fileOf(name, language = "en") {
    return language === "en" ? `${name}.html` : `${name}.${language}.html`;
}

/** Which page in which language a file is. */
export function pageOf(file) {
    const [, name, language = "en"] = /^(\w+)(?:\.(\w+))?\.html$/.exec(file) ?? [];
    const page = pages.find((each) => each.name === name);
    if (!page?.languages.includes(language)) throw new Error(`${file} is none of the pages`);
    return { ...page, language };
}

/** All of them. */
export const files = pages.flatMap(({ name, languages }) =>
    languages.map((language) => fileOf(name, language)),
);
