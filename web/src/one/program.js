/**
 * The program of a view that is saved as one file: there is one in each language.
 * @param {string} language
 */
export function programOf(language) {
    return language === "en" ? "one-file.js" : `one-file.${language}.js`;
}
