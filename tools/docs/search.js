// tools/docs/search.py writes `sections` before this: [link, heading, title of the page, words], in reading order.
// A section is found if it has each word of the query, or a word that begins with it.
const createSymbols = createResults;
createResults = function () {
    const query = unescape(window.location.search.substring(1)).trim().toLowerCase();
    const words = query.match(/[\p{L}\p{N}_]+/gu) || [];
    const hits = (text) => words.filter((word) => (" " + text).includes(" " + word)).length;
    const has = (text) => hits(text) === words.length;
    const heading = (section) => section[1].toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, " ").trim();
    const found = words.length ? sections.filter((section) => has(section[3])) : [];
    // Some headings stand before the symbols. Behind them stand the other sections, first those with more words in their heading.
    const first = found.filter((section) => has(heading(section))).slice(0, 8);
    const others = found.filter((section) => !first.includes(section));
    others.sort((one, other) => hits(heading(other)) - hits(heading(one)));
    // The generator shows the rows whose ids begin with the query.
    const rows = (part, place) =>
        part.map(([link, heading, title], number) => [
            `${convertToId(query)}_${place}_${number}`,
            [heading, ["../" + link, 1, title]],
        ]);
    searchData.unshift(...rows(first, "first"));
    searchData.push(...rows(others.slice(0, 100), "other"));
    createSymbols();
};
