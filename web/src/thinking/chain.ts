/** The tokens of a thought, one of which was read last. */

import { element, find } from "../dom/dom";
import type { Thought } from "../source/trained";
import { words } from "../words/words";
import { said } from "./words";

const { quoted } = words.picture;

export class Chain {
    #list = find(document, "#chain", HTMLOListElement);
    #words = find(document, "#words", HTMLElement);
    #thought: Thought | null = null;

    /** `onToken`: a token was chosen, after which so many are read. */
    constructor(onToken: (token: number) => void) {
        this.#list.addEventListener("click", ({ target }) => {
            const item = target instanceof Element ? target.closest("li") : null;
            const place = item ? [...this.#list.children].indexOf(item) : -1;
            if (place >= 0 && this.#thought) onToken(Math.min(place + 1, lastOf(this.#thought)));
        });
    }

    /** null: there is none. */
    show(thought: Thought | null): void {
        this.#thought = thought;
        const items = thought?.tokens.map((token, i) => {
            const item = element("li", {}, element("button", { type: "button" }, token));
            item.classList.toggle("said", i >= thought.question);
            item.classList.toggle("wrong", isWrong(thought, i));
            return item;
        });
        this.#list.replaceChildren(...(items ?? []));
    }

    /** The model has read so many tokens: it has said one more than that, once the question is over. */
    read(token: number): void {
        const thought = this.#thought;
        if (!thought) return;
        [...this.#list.children].forEach((item, i) => {
            (item as HTMLElement).hidden = i > token && i >= thought.question;
            item.classList.toggle("read", i < token);
            if (i === token - 1) item.firstElementChild?.setAttribute("aria-current", "step");
            else item.firstElementChild?.removeAttribute("aria-current");
        });
        this.#words.textContent = wordsOf(thought, token);
    }

    /** There is no thought, for a reason that stands elsewhere. */
    clear(): void {
        this.show(null);
        this.#words.textContent = "";
    }
}

/** Tokens that the model reads of a thought: all but what it says last. */
export function lastOf({ tokens }: Thought): number {
    return tokens.length - 1;
}

function isWrong({ tokens, expected, question }: Thought, place: number): boolean {
    return place >= question && tokens[place] !== expected[place];
}

function wordsOf(thought: Thought, token: number): string {
    const { tokens, expected, question } = thought;
    const read = said.read(token, lastOf(thought), quoted(tokens[token - 1] ?? ""));
    if (token < question) return read + said.goesOn;
    const due = expected[token];
    const wrong = due === undefined ? said.oughtToEnd : said.wrong(quoted(due));
    const judged = isWrong(thought, token) ? wrong : "";
    const end = token === lastOf(thought) ? ` ${verdict(thought)}` : "";
    return `${read}${said.says(quoted(tokens[token] ?? ""))}${judged}.${end}`;
}

function verdict({ tokens, expected, right, unlike }: Thought): string {
    const answerOf = (all: string[]) => (all.at(-1) === "<eos>" ? all.at(-2) : all.at(-1)) ?? "";
    const learned = unlike === "" ? "" : ` ${said.learned(unlike)}`;
    const answer = answerOf(tokens);
    return (
        (right ? said.rightAnswer(answer) : said.wrongAnswer(answer, answerOf(expected))) + learned
    );
}
