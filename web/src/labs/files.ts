/** Files of runs, given to the reader: what does that comes when the first is asked for. */

import { save } from "../input/saving";
import { png } from "../take/standalone";

/** What a link leads to, under the name that it gives. */
type Source = Pick<HTMLAnchorElement, "href" | "download">;

export async function saveFile({ href, download }: Source): Promise<void> {
    const file = await (await load(href)).blob();
    save(download, file, file.type);
}

/** An SVG picture as pixels. */
export async function savePixels({ href, download }: Source): Promise<void> {
    const picture = await (await load(href)).text();
    save(download.replace(/svg$/, "png"), await png(picture), "image/png");
}

async function load(address: string): Promise<Response> {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return response;
}
