/** What a page gives its reader as files, as the tests read it. */

/** The file that a format's button or link gives: { name, bytes }. */
export async function take(page, root, format) {
    const coming = page.waitForEvent("download");
    await root.locator(`[data-format=${format}]`).click();
    const file = await coming;
    const chunks = await (await file.createReadStream()).toArray();
    return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** Lines of a .csv file without quotes. */
export function lines({ bytes }) {
    const all = String(bytes).trim().split("\n");
    return all.map((line) => line.split(","));
}

export function jsonOf({ bytes }) {
    return JSON.parse(String(bytes));
}

/** Width, height and number of colours, as the page's browser has them. */
export function look(page, { bytes }, type) {
    return page.evaluate(
        async ([base64, type]) => {
            const letters = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            const image = new Image();
            image.src = URL.createObjectURL(new Blob([letters], { type }));
            await image.decode();
            const { naturalWidth: width, naturalHeight: height } = image;
            const canvas = document.createElement("canvas");
            Object.assign(canvas, { width, height });
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
            return { width, height, colours: new Set(pixels).size };
        },
        [bytes.toString("base64"), type],
    );
}
