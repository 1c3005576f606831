/** What is drawn anew is drawn once for all that has changed, just before the browser draws. */

export class Frame {
    /** Those that are asked for; whom one asks as it draws draws in the same frame, so that none may ask itself. */
    static #asked = new Set<Frame>();
    #draw: () => void;

    constructor(draw: () => void) {
        this.#draw = draw;
    }

    ask(): void {
        const asked = Frame.#asked;
        if (asked.size === 0) requestAnimationFrame(Frame.#drawAll);
        asked.add(this);
    }

    /** One that fails keeps none of the others from being drawn. */
    static #drawAll(): void {
        for (const frame of Frame.#asked) {
            Frame.#asked.delete(frame);
            try {
                frame.#draw();
            } catch (error) {
                reportError(error);
            }
        }
    }
}

const patience = 100; // milliseconds that what is there waits for the rest

/** As Frame, but what comes by parts is drawn when all of it is there, or when that takes long. */
export class Gathering {
    #frame: Frame;
    #isWhole: () => boolean;
    #timer = 0;
    #waiting: (() => void)[] = [];

    constructor(draw: () => void, isWhole: () => boolean) {
        this.#frame = new Frame(() => {
            draw();
            for (const resolve of this.#waiting.splice(0)) resolve();
        });
        this.#isWhole = isWhole;
    }

    /** Resolves when it is drawn, or when that takes long: a page that nobody sees is not. */
    ask(): Promise<void> {
        if (this.#isWhole()) this.#go();
        else this.#timer ||= setTimeout(() => this.#go(), patience);
        return new Promise((resolve) => {
            this.#waiting.push(resolve);
            setTimeout(resolve, 2 * patience);
        });
    }

    #go(): void {
        clearTimeout(this.#timer);
        this.#timer = 0;
        this.#frame.ask();
    }
}

/** What was drawn last: the same is there already. */
export class Drawn {
    #from: readonly unknown[] = [];

    /** Has it not been drawn from just these? It will be now. */
    changes(...from: readonly unknown[]): boolean {
        const isSame = from.every((each, i) => Object.is(each, this.#from[i]));
        this.#from = from;
        return !isSame;
    }

    forget(): void {
        this.#from = [];
    }
}
