/** The site's pages, in the order in which they name each other, and the languages in which there are some. */
export const pages = [
    { name: "index", languages: ["en", "de"] },
    { name: "story", languages: ["en", "de"] },
    { name: "thinking", languages: ["en", "de"] },
    { name: "training", languages: ["en", "de"] },
    { name: "figures", languages: ["en", "de"] },
    { name: "labs", languages: ["en", "de"] },
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
