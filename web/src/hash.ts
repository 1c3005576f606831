/** What follows the # of the address. */

const pause = 350; // milliseconds: Safari refuses more than 100 changes of the address in 30 s

/** Browsers take only so many changes of an address: the latest of those asked for is made soon. */
export class Hash {
    #make: (() => string | Promise<string>) | null = null;
    #written = -Infinity;
    #isWriting = false;

    /** `make`: called when it is time. */
    write(make: () => string | Promise<string>): void {
        this.#make = make;
        if (!this.#isWriting) void this.#write();
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
                history.replaceState(
                    null,
                    "",
                    hash ? `#${hash}` : location.pathname + location.search,
                );
                this.#written = performance.now();
            }
        } finally {
            this.#isWriting = false;
        }
    }
}
