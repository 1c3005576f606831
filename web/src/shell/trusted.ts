/** The page's policy lets no text become a script's address; this lets addresses of its own files. */

interface Policies {
    createPolicy(name: "default", rules: { createScriptURL(url: string): string | null }): unknown;
}

const { trustedTypes } = globalThis as { trustedTypes?: Policies };

trustedTypes?.createPolicy("default", {
    createScriptURL: (url) => (new URL(url, location.href).origin === location.origin ? url : null),
});
