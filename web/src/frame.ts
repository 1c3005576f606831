/** What is drawn anew is drawn once for all that has changed, just before the browser draws. */

export class Frame {
    #draw: () => void;
    #isComing = false;

    constructor(draw: () => void) {
        this.#draw = draw;
    }

    ask(): void {
        if (this.#isComing) return;
        this.#isComing = true;
        requestAnimationFrame(() => {
            this.#isComing = false;
            this.#draw();
        });
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
