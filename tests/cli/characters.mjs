/* Texts, and the tokens that they are: for the command line and for libattn/data. */

/** [what, text, tokens] */
export const CHARACTERS = [
    ["flags are pairs", "🇩🇪🇫🇷 a🇯🇵b", ["🇩🇪", "🇫🇷", "a", "🇯🇵", "b"]],
    ["half a flag is a token", "🇩🇪🇫 🇫x", ["🇩🇪", "🇫", "🇫", "x"]],
    ["a space keeps halves apart", "🇩 🇪", ["🇩", "🇪"]],
    [
        "flags of tags",
        "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}🏴",
        [
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            "🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
            "🏴",
        ],
    ],
    ["joined flags", "🏳️‍🌈🏴‍☠️!", ["🏳️‍🌈", "🏴‍☠️", "!"]],
    ["skin tones and families", "👋🏽👩🏽‍🚀👨‍👩‍👧‍👦", ["👋🏽", "👩🏽‍🚀", "👨‍👩‍👧‍👦"]],
    ["variation selectors", "❤️❤︎☺️", ["❤️", "❤︎", "☺️"]],
    [
        "ideographs with variations",
        "葛\u{E0100}飾辻\u{E0101}",
        ["葛\u{E0100}", "飾", "辻\u{E0101}"],
    ],
    ["ideographs with standard variations", "\u4FAE\uFE00x", ["\u4FAE\uFE00", "x"]],
    [
        "Mongolian variations",
        "\u1820\u180B\u1821 \u1822\u180F",
        ["\u1820\u180B\u1821", "\u1822\u180F"],
    ],
    ["keycaps", "1️⃣2️⃣a #️⃣3⃣", ["1️⃣", "2️⃣", "a", "#️⃣", "3⃣"]],
    ["letters in emoji style", "ℹ️Info ™️™", ["ℹ️", "Info", "™️", "™"]],
    ["combining kana", "か\u3099き\u3099ハ\u309A", ["か\u3099", "き\u3099", "ハ\u309A"]],
    ["kana with marks of their own", "がぎ゛パ", ["が", "ぎ", "゛", "パ"]],
    ["half-width kana", "ｶﾞﾊﾟｱ", ["ｶﾞ", "ﾊﾟ", "ｱ"]],
    ["small and old kana", "ㇰ\u{1B001}", ["ㇰ", "\u{1B001}"]],
    ["marks on what is no letter", "東\u0301⟨\u20D7+\u1DC4", ["東\u0301", "⟨\u20D7", "+\u1DC4"]],
    ["marks on letters", "e\u0301te\u0301 a\uFE20b\uFE21", ["e\u0301te\u0301", "a\uFE20b\uFE21"]],
    ["a soft hyphen is no token", "\u00AD a \u00AD\u00AD", ["a"]],
    ["nor the end of a word", "atten\u00ADtion", ["atten\u00ADtion"]],
    ["nor a part of its edges", "\u00ADone\u00AD, two\u00AD", ["one", ",", "two"]],
    ["nor between a word and its apostrophe", "don\u00AD'\u00ADt", ["don\u00AD'\u00ADt"]],
    ["an apostrophe that ends with one", "a'\u00AD b", ["a", "'", "b"]],
    [
        "word joiners and marks of direction",
        "a\u2060b \u200Ec\u200F\u202Ad\u2069",
        ["a\u2060b", "c\u200F\u202Ad"],
    ],
    ["a byte order mark", "\uFEFFa\uFEFF b", ["a", "b"]],
    ["selectors of nothing", "\uFE0F \u200D a \u{E0100}\u{E0041}\u200C", ["a"]],
    [
        "other characters that nothing is seen of",
        "\u061Ca \u3164 \uFFF9b \u180E\u{E0001}",
        ["a", "b"],
    ],
    ["spaces of no width", "a\u200Bb\u2028c", ["a", "b", "c"]],
    ["a joiner behind a word", "ක්\u200D.", ["ක්\u200D", "."]],
];

/** Words that have the same vector, though one has characters more. */
export const SAME_WORDS = [
    "attention",
    "atten\u00ADtion",
    "at\u2060ten\u00AD\u00ADtion",
    "a\u200Ettention",
];
