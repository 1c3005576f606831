/** What the page opens with: the settings of its link, its text, and the address that keeps them. */

import { Address } from "../state/address";
import { find, message } from "../dom/dom";
import { keptMask } from "../rules/maskfile";
import { presetOf } from "../presets/list";
import { typedBefore } from "./typed";
import { words } from "../words/words";
import { defaultSettings, readLink, type Link, type Settings } from "../state/state";

interface Opening {
    link: Link;
    settings: Settings;
    address: Address;
}

/** `demo`: the text where the link has none; `onText`: told what the reader should know of the text and what else is not there. */
export async function openLink(
    demo: string,
    onText: (note: string | null) => void,
): Promise<Opening> {
    const defaults = defaultSettings(demo);
    const link = readLink(location.hash, defaults);
    const address = new Address(defaults, onText);
    const orElse =
        <T>(other: T) =>
        (error: unknown) => {
            onText(message(error));
            return other;
        };
    const linked = await address.read(link.text).catch(orElse(demo));
    const text = typedBefore() ?? linked;
    const query = new URLSearchParams(location.hash.slice(1));
    const asked = query.getAll("preset").at(-1) ?? "none";
    if (asked !== "none" && !presetOf(asked)) onText(words.presets.unknown(asked));
    const mask = await keptMask(query).catch(orElse(undefined));
    return { link, settings: { ...link, text, ...(mask && { mask }) }, address };
}

/** Say which program it is. */
export function tellAbout({ version, build, tier }: Record<"version" | "build" | "tier", string>) {
    const { about } = words.progress;
    find(document, "#about", HTMLElement).textContent = about(version, build, tier);
}

export async function readDemo(): Promise<string> {
    const response = await fetch(words.input.demo);
    return response.ok ? (await response.text()).trim() : "";
}
