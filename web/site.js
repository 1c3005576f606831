// The address that the built page is to have, where it is known: sites that show a link's picture take absolute addresses
// alone, by Open Graph (https://ogp.me).

const picture = /(<meta property="og:image" content=")([^"]+)/;

/** `address`: of the built page's folder, as in ATTN_SITE; empty: not known, and pictures stay relative. */
export function site(address = "") {
    const base = address === "" ? null : baseOf(address);
    return {
        name: "site",
        apply: "build",
        enforce: "post", // pages have the names of files by then
        generateBundle(_, bundle) {
            if (!base) return;
            for (const file of Object.values(bundle))
                if (file.fileName.endsWith(".html"))
                    file.source = String(file.source).replace(
                        picture,
                        (_, before, path) => before + new URL(path, base),
                    );
        },
    };
}

function baseOf(address) {
    const folder = address.endsWith("/") ? address : `${address}/`;
    const url = URL.canParse(folder) ? new URL(folder) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash)
        throw new Error(
            `ATTN_SITE is "${address}", must be an address such as https://example.org/attention/`,
        );
    return url;
}
