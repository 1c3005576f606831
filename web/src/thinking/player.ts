/** Steps through the tokens of a thought, by hand or by itself. */

import { find } from "../dom/dom";
import { words } from "../words/words";

const { play, pause: hold } = words.streaming;

const pause = 700; // milliseconds between two tokens

export class Player {
    #back = find(document, "#back", HTMLButtonElement);
    #play = find(document, "#play", HTMLButtonElement);
    #next = find(document, "#next", HTMLButtonElement);
    #slider = find(document, "#token", HTMLInputElement);
    #words = find(document, "#words", HTMLElement);
    #onToken: (token: number) => void;
    #token = 1;
    #first = 1;
    #last = 1;
    #timer = 0;

    constructor(onToken: (token: number) => void) {
        this.#onToken = onToken;
        this.#back.onclick = () => this.go(this.#token - 1);
        this.#next.onclick = () => this.go(this.#token + 1);
        this.#play.onclick = () => (this.isPlaying ? this.go(this.#token) : this.play());
        this.#slider.oninput = () => this.go(Number(this.#slider.value));
    }

    /** So many are read. */
    get token(): number {
        return this.#token;
    }

    get isPlaying(): boolean {
        return this.#timer !== 0;
    }

    /** Another thought: its question ends at `first`. `plays`: by itself, from `token` on. */
    set(token: number, first: number, last: number, plays: boolean): void {
        this.#first = first;
        this.#last = last;
        this.#slider.max = String(last);
        this.#slider.disabled = this.#play.disabled = false;
        if (plays) this.#start();
        this.#move(token);
    }

    clear(): void {
        this.stop();
        for (const control of [this.#back, this.#play, this.#next, this.#slider])
            control.disabled = true;
    }

    go(token: number): void {
        this.stop();
        this.#move(token);
    }

    stop(): void {
        clearInterval(this.#timer);
        this.#timer = 0;
        this.#play.textContent = play;
        this.#words.ariaLive = "polite";
    }

    play(): void {
        this.#start();
        if (this.#token >= this.#last) this.#move(this.#first);
    }

    #start(): void {
        this.#play.textContent = hold;
        this.#words.ariaLive = "off"; // or each token would be read out
        this.#timer = setInterval(() => {
            if (this.#token + 1 >= this.#last) this.stop(); // what it ends with is read out
            this.#move(this.#token + 1);
        }, pause);
    }

    #move(token: number): void {
        this.#token = Math.min(this.#last, Math.max(1, token));
        this.#slider.value = String(this.#token);
        this.#back.disabled = this.#token === 1;
        this.#next.disabled = this.#token === this.#last;
        this.#onToken(this.#token);
    }
}
