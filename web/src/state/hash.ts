/** What follows the # of the address. */

const pause = 350; // milliseconds: Safari refuses more than 100 changes of the address in 30 s

/** Browsers take only so many changes of an address: the latest of those asked for is made soon. */
export class Hash {
    #make: (() => string | Promise<string>) | null = null;
    #isStep = false;
    #written = -Infinity;
    #isWriting = false;
    #writing = Promise.resolve();

    /** `make`: called when it is time. `isStep`: the address of now is what Back leads to. */
    write(make: () => string | Promise<string>, isStep = false): void {
        this.#make = make;
        this.#isStep ||= isStep;
        if (!this.#isWriting) this.#writing = this.#write();
    }

    /** Resolves when all is written that was asked for. */
    written(): Promise<void> {
        return this.#writing;
    }

    async #write(): Promise<void> {
        this.#isWriting = true;
        try {
            while (this.#make) {
                const wait = Math.max(0, this.#written + pause - performance.now());
                await new Promise((resolve) => setTimeout(resolve, wait));
                const make = this.#make;
                this.#make = null;
                const hash = await make();
                const address = hash ? `#${hash}` : location.pathname + location.search;
                if (this.#isStep) history.pushState(null, "", address);
                else history.replaceState(null, "", address);
                this.#isStep = false;
                this.#written = performance.now();
            }
        } finally {
            this.#isWriting = false;
        }
    }
}
