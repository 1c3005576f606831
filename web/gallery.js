// The figures that bench/labs/figures has, as cards of figures.html: made when the page is built.

import { basename } from "node:path";
import { escaped } from "./escaped.js";
import { addressOf, readFigures } from "./figures.js";
import { fileOf, pageOf } from "./pages.js";
import { share as germanSaving } from "./src/words/de/folds";
import { gallery as german } from "./src/words/de/gallery";
import { share as englishSaving } from "./src/words/en/folds";
import { gallery as english } from "./src/words/en/gallery";
import { commonTitle, variantsOf } from "./variants.js";

const tables = { en: english, de: german };
const savings = { en: englishSaving, de: germanSaving };

const verdicts = ["holds", "fails", "undecided", "illustration"];
/** In the order of `attn lab list`; others come behind. */
const order = [
    ...["separation", "softmax-regression", "sparsification"],
    ...["constructions", "programs", "complexity", "reasoning"],
];

/** Takes hours, and is not in `libattn-labs`. */
const longLab = "reasoning";

/** Puts them where figures.html says so. */
export function gallery() {
    return {
        name: "gallery",
        transformIndexHtml: {
            order: "pre", // pictures become the build's own files
            async handler(html, { filename }) {
                const { name, language } = pageOf(basename(filename));
                if (name !== "figures") return html;
                const made = cards(await readFigures(), language);
                return html.replace("<!-- gallery -->", () => made); // in which $ means nothing
            },
        },
    };
}

/** Of all figures, by lab. */
export function cards(figures, language) {
    const place = ({ lab }) => (order.includes(lab) ? order.indexOf(lab) : order.length);
    const labs = [...new Set(figures.sort((a, b) => place(a) - place(b)).map(({ lab }) => lab))];
    const sections = labs.map((lab) =>
        section(
            figures.filter((each) => each.lab === lab),
            language,
        ),
    );
    const all = [`<p id="counts">${counts(figures, language)}</p>`, strip(figures, language)];
    return `${all.join("\n")}\n${sections.join("\n")}`;
}

/** A square for each, and which of them are shown: the style sheet goes by what is chosen, without a program. */
function strip(figures, language) {
    const { show, all, claims } = tables[language];
    const say = sayingIn(language);
    const choices = ["all", ...verdicts].map((choice) => {
        const checked = choice === "all" ? " checked" : "";
        const name = choice === "all" ? escaped(all) : say(choice);
        return `<label data-verdict="${choice}"><input type="radio" name="shown" id="only-${choice}"${checked} /> ${name}</label>`;
    });
    const squares = figures.map(({ name, panel, verdict }) => {
        const title = `${say(panel.title)}: ${say(verdict)}`;
        return `<li data-verdict="${verdict}"><a href="#${name}" title="${title}"><span class="hidden">${title}</span></a></li>`;
    });
    return `
<section class="claims" aria-label="${escaped(claims)}">
  <fieldset><legend class="hidden">${escaped(show)}</legend>${choices.join("")}</fieldset>
  <ol role="list">${squares.join("")}</ol>
</section>`;
}

/** Of the papers' statements, and then of the library's own claims. */
function counts(figures, language) {
    const { counts: ofPapers, ownCounts } = tables[language];
    const each = (own) =>
        verdicts.map(
            (verdict) =>
                figures.filter((figure) => figure.verdict === verdict && figure.panel.own === own)
                    .length,
        );
    return `${ofPapers(...each(false))} ${ownCounts(...each(true))}`;
}

function section(figures, language) {
    const [{ lab, title, reference, summary }] = figures;
    const say = sayingIn(language);
    return `
<section aria-labelledby="${lab}">
  <h2 id="${lab}">${say(title)}</h2>
  <p class="hint">${say(summary)} ${say(reference)}.</p>
  <ul class="figures">${variantsOf(figures)
      .map((all) => card(all, language))
      .join("")}</ul>
</section>`;
}

/** Of figures that are variants of each other, or of one. */
function card(figures, language) {
    const [{ name, panel, verdict }] = figures;
    const { own, beyond } = tables[language];
    const say = sayingIn(language);
    const isOne = figures.length === 1;
    const runs = isOne ? run(figures[0], language) : variants(figures, language);
    return `
<li class="card"${isOne ? ` id="${name}" data-run` : ""} data-verdict="${verdict}">
  <h3>${commonTitle(figures.map(({ panel: { title } }) => say(title)))}</h3>
  <p>${say(panel.plain)}</p>
  <p class="claim">${panel.own ? `<strong>${own}</strong> ` : ""}${say(panel.claim)}</p>
  ${panel.where ? `<p class="hint">${say(panel.where)}</p>` : ""}
  ${panel.ours ? `<p class="hint">${beyond} ${say(panel.ours)}</p>` : ""}
  ${runs}
</li>`;
}

/** One of them is open, the first unless an address leads to another. */
function variants(figures, language) {
    const say = sayingIn(language);
    const [first] = figures;
    const each = figures.map((figure) => {
        const open = figure === first ? " open" : "";
        return `
  <details class="variant" name="of-${first.name}"${open}><summary>${say(figure.panel.title)}</summary>
  <div id="${figure.name}" data-run data-verdict="${figure.verdict}">${run(figure, language)}</div></details>`;
    });
    return each.join("");
}

/** What came out, its picture and files, and how it is run. */
function run({ name, heights, lab, panel, verdict, found, command, host, tier }, language) {
    const { whole, shown } = heights;
    const { run, takesHours, howMade, measured } = tables[language];
    const say = sayingIn(language);
    const address = `./${fileOf("labs", language)}#${new URLSearchParams({ lab, panel: panel.id })}`;
    const end =
        lab === longLab
            ? `<p>${takesHours}</p>`
            : `<p><a class="button" href="${escaped(address)}">${run}</a></p>`;
    const times = panel.serial
        ? `\n  <p class="measured">${measured(say(host), escaped(tier))}</p>`
        : "";
    return `<p><strong class="verdict">${say(verdict)}</strong> ${say(found)}</p>${times}
  <svg viewBox="0 0 640 ${shown}" aria-hidden="true"><image href="${addressOf(`${name}.svg`)}" width="640" height="${whole}" /></svg>
  ${saving(name, say(panel.title), language)}
  <details><summary>${howMade}</summary><pre tabindex="0"><code>${escaped(command)}</code></pre><p>${say(host)}</p></details>
  ${end}`;
}

/** A run's own files are there without a program; src/labs/gallery.ts makes the PNG. `title`: as HTML. */
function saving(name, title, language) {
    const { saveAs, formatOf } = savings[language];
    const links = ["svg", "csv", "json"].map((format) => {
        const [file, label] = [`${name}.${format}`, format.toUpperCase()];
        const target = `data-format="${format}" download="${file}" href="${addressOf(file)}"`;
        return `<a class="button" ${target} aria-label="${formatOf(label, title)}">${label}</a>`;
    });
    const label = formatOf("PNG", title);
    const png = `<button type="button" data-format="png" hidden aria-label="${label}">PNG</button>`;
    return `<p class="take buttons">${saveAs}${png}${links.join("")}<span role="status"></span></p>`;
}

/** What the library says, in a language. */
function sayingIn(language) {
    return (text) => escaped(tables[language].ofLabs(text));
}
