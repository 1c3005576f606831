/* Models of text, which go on from a beginning: of libattn-labs/models. */
import { checkFinite, checkWithin, readOptions, wrong } from "../../../js/problem/check.js";
import { disposed } from "../../../js/problem/errors.js";
import { encode } from "../../../js/engine/text.js";
import { readHeads } from "./thought.js";
import { makeLetters, textOf } from "./letters.js";

const TOKEN = 16; // bytes at most
const MOST = 1e6; // tokens of a call
const CHOICE = { temperature: 0.8, topP: 0.95, seed: 1 };

export class Writer {
    #session;
    #handle;
    #bytes = new Map(); // of tokens, by their numbers
    #known = 0; // tokens of the beginning
    #letters = makeLetters();
    about;

    /** `handle`: C's model, which it takes over. */
    constructor(session, handle) {
        this.#session = session;
        this.#handle = handle;
        this.about = Object.freeze(session.describe("attnmodel_describe", handle));
        Object.freeze(this);
    }

    begin(text) {
        if (typeof text !== "string") throw wrong("the text", "a string", text);
        this.#checkAlive();
        const bytes = encode(text);
        const { count, known } = this.#session.borrow((loan) => {
            const at = loan.input(bytes, "the text");
            return this.#session.describe("attnmodel_begin", this.#handle, at, bytes.length);
        });
        this.#known = known.length;
        this.#letters = makeLetters();
        return { count, tokens: known.map((token) => textOf(this.#bytesOf(token))) };
    }

    heads() {
        this.#checkAlive();
        return this.#session.borrow((loan) =>
            readHeads(this.#session, this.#handle, this.about, this.#known, loan),
        );
    }

    next(options = {}) {
        const choice = readChoice(options, Object.keys(CHOICE));
        return this.#step(choice);
    }

    *write(text, options = {}) {
        const choice = readChoice(options, ["tokens", ...Object.keys(CHOICE)]);
        const tokens = checkWithin(options.tokens ?? 200, "tokens", 1, MOST);
        this.begin(text);
        for (let i = 0; i < tokens; i++) yield this.#step(choice).text;
    }

    dispose() {
        if (this.#handle !== 0) this.#session.destroy("attnmodel_destroy", this.#handle);
        this.#handle = 0;
    }

    #checkAlive() {
        if (this.#handle === 0) throw disposed("a model");
    }

    #step({ temperature, topP, seed }) {
        this.#checkAlive();
        const token = this.#session.measure(
            ...["attnmodel_next", this.#handle, temperature, topP, seed],
        );
        const bytes = this.#bytesOf(token);
        return { token: textOf(bytes), text: this.#letters(bytes) };
    }

    #bytesOf(token) {
        const known = this.#bytes.get(token);
        if (known) return known;
        const bytes = this.#session.borrow((loan) => {
            const room = loan.output(Uint8Array, TOKEN, "a token");
            const size = this.#session.measure("attnmodel_bytes", token, room.at, TOKEN);
            return room.take().slice(0, size);
        });
        this.#bytes.set(token, bytes);
        return bytes;
    }
}

/** Ranges of temperature and topP are C's to check. */
function readChoice(given, names) {
    const { temperature, topP, seed } = { ...CHOICE, ...readOptions(given, names, "writing") };
    return {
        temperature: checkFinite(temperature, "temperature"),
        topP: checkFinite(topP, "topP"),
        seed: checkWithin(seed, "seed", 0, Number.MAX_SAFE_INTEGER),
    };
}
