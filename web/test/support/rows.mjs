/** Rows that are shown step by step. */

import { page, panel } from "./panels.mjs";

/** Pins a row by the keyboard, and waits for its steps. */
export async function pin(row, column) {
    await panel("softmax").locator("canvas").focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < row; i++) await page.keyboard.press("ArrowDown");
    for (let j = 0; j < column; j++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await stepsShown();
}

export async function stepsShown() {
    await page.waitForFunction(
        (count) => {
            const shown = document.querySelectorAll(".row:not(.old) .row-error data");
            return shown.length === count;
        },
        await page.locator(".panel").count(),
    );
}
