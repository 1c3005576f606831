/*
 * In the head of a page that there is in several languages, so that nothing is drawn before: leads to the language
 * that the link says; else a German page stays, and an English one goes by what this reader has chosen before, or
 * by the browser's languages. What follows the # goes along.
 */
{
    const here = document.documentElement.lang;
    const others = [...document.querySelectorAll("link[rel=alternate]")];
    const isKnown = (language) =>
        language === here || others.some(({ hreflang }) => hreflang === language);
    const kept = () => {
        try {
            return [localStorage.getItem("language")];
        } catch {
            return []; // a browser that keeps nothing
        }
    };
    const preferred = () => navigator.languages.map((language) => language.split("-")[0]);
    const asked = new URLSearchParams(location.hash.slice(1)).get("lang");
    const wanted = [asked, ...(here === "en" ? [...kept(), ...preferred()] : [])].find(isKnown);
    const other = others.find(({ hreflang }) => hreflang === wanted);
    if (other) {
        document.documentElement.style.display = "none";
        location.replace(other.href + location.hash);
    }
}
