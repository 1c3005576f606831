/**
 * Pages that tests have closed serve again, in a browser that has kept nothing of them: in a process of its own a page
 * takes twice as long to open. One that a test has altered beyond what loading undoes is closed for good; whoever
 * alters contexts makes one (site.newContext()).
 */

const alterings = [
    "addInitScript",
    "emulateMedia",
    "exposeBinding",
    "exposeFunction",
    "route",
    "setExtraHTTPHeaders",
    "setViewportSize",
];

export class Spares {
    #origin;
    #newContext;
    /** By their context's options. */
    #pages = new Map();

    constructor(url, newContext) {
        this.#origin = new URL(url).origin;
        this.#newContext = newContext;
    }

    async take(options = {}) {
        const key = JSON.stringify(options);
        return this.#pages.get(key)?.pop() ?? this.#make(options, key);
    }

    async #make(options, key) {
        const context = await this.#newContext(options);
        const page = await context.newPage();
        const client = await context.newCDPSession(page);
        let isAltered = false;
        for (const name of alterings) {
            const original = page[name].bind(page);
            page[name] = (...given) => {
                isAltered = true;
                return original(...given);
            };
        }
        page.close = async () => {
            page.removeAllListeners(); // what ends with the page is no fault of it
            if (isAltered) return context.close();
            const spares = this.#pages.get(key) ?? [];
            if (spares.includes(page)) return; // closed twice
            await page.goto(`${this.#origin}/demo.txt`); // elsewhere it would get another process
            await page.mouse.move(0, 0);
            await client.send("Storage.clearDataForOrigin", {
                origin: this.#origin,
                storageTypes: "all",
            });
            this.#pages.set(key, [...spares, page]);
        };
        return page;
    }
}
