// build.mjs <folder of node_modules> <output.cpp>: puts the page, its scripts and its styles into one
// file, and that into a C++ source. The content security policy allows exactly these scripts and styles.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, output] = process.argv.slice(2);
const own = (name) => readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
const other = (name) => readFileSync(join(modules, "node_modules", name), "utf8");
const licence = (name) => `/*! ${name}\n${other(join(name, "LICENSE")).replaceAll("*/", "")}\n*/\n`;

const styles = [other("uplot/dist/uPlot.min.css"), own("page.css")];
const scripts = [
    licence("uplot") + other("uplot/dist/uPlot.iife.min.js"),
    licence("@dagrejs/dagre") + other("@dagrejs/dagre/dist/dagre.min.js"),
    own("page.js"),
].map((text) => text.replaceAll("</script", "<\\/script").replace(/^\/\/# sourceMappingURL=.*$/gm, ""));

const hashes = (texts) =>
    texts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ");
const policy =
    `default-src 'none'; script-src ${hashes(scripts)}; style-src ${hashes(styles)}; connect-src 'self'; ` +
    `img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const page = own("page.html")
    .replace("<!-- styles -->", () => styles.map((text) => `<style>${text}</style>`).join("\n"))
    .replace("<!-- scripts -->", () => scripts.map((text) => `<script>${text}</script>`).join("\n"));

const bytes = Buffer.from(page);
const lines = [];
for (let i = 0; i < bytes.length; i += 64) {
    lines.push([...bytes.subarray(i, i + 64)].join(","));
}
writeFileSync(
    output,
    `#include <cstddef>\n\nnamespace sluice::live {\n` +
        `extern const unsigned char pageBytes[];\nextern const std::size_t pageSize;\nextern const char* const pagePolicy;\n` +
        `const unsigned char pageBytes[] = {\n${lines.join(",\n")}};\n` +
        `const std::size_t pageSize = ${bytes.length};\n` +
        `const char* const pagePolicy = ${JSON.stringify(policy)};\n}  // namespace sluice::live\n`,
);
