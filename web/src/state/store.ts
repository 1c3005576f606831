/** What no link can hold, kept by this browser under a key that the link has instead. */

const most = 16; // values kept: the latest ones
const values = "values";
const keyForm = /^[0-9a-z]{16}$/;

export function newKey(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => (byte % 36).toString(36)).join("");
}

export function isKey(text: string): boolean {
    return keyForm.test(text);
}

/** Keep a value, in the place of what had the key; false where the browser does not. */
export async function keep(key: string, value: unknown): Promise<boolean> {
    try {
        const transaction = (await open()).transaction(values, "readwrite");
        const store = transaction.objectStore(values);
        await done(store.put({ value, time: Date.now() }, key));
        const keys = await done(store.index("time").getAllKeys());
        for (const old of keys.slice(0, -most)) store.delete(old);
        await committed(transaction);
        return true;
    } catch {
        return false; // no room, or a browser set to keep nothing
    }
}

/** The value under a key; undefined where there is none. */
export async function kept<T>(key: string): Promise<T | undefined> {
    try {
        const store = (await open()).transaction(values, "readwrite").objectStore(values);
        const found: { value: T } | undefined = await done(store.get(key));
        if (found) store.put({ ...found, time: Date.now() }, key);
        return found?.value;
    } catch {
        return undefined;
    }
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
    if (opened) return opened;
    const request = indexedDB.open("libattn", 1);
    request.onupgradeneeded = () => {
        request.result.createObjectStore(values).createIndex("time", "time");
    };
    return (opened = done(request));
}

function done<T>(request: IDBRequest<T>): Promise<T> {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error("the browser refused"));
    });
}

function committed(transaction: IDBTransaction): Promise<void> {
    return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error ?? new Error("the browser refused"));
    });
}
