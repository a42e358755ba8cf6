/** The pages that readers get, and the programs in them. */
import { readdirSync } from "node:fs";

/** README.md and the pages of docs/, as paths from the root of the repository. */
export function pages() {
  const docs = readdirSync("docs", { recursive: true }).filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.sort().map((name) => `docs/${name}`)];
}

/**
 * The TypeScript blocks of a page: source, line of the first statement, and whether the page shows their output.
 * `<!-- browser -->` above a block says that it needs a page; such a block has no output.
 */
export function programs(text) {
  return [...text.matchAll(/(<!-- browser -->\n\n)?```ts\n([\s\S]*?)\n```(\n\n<!-- output: ts -->)?/g)].map(
    (match) => ({
      source: match[2],
      line: text.slice(0, match.index).split("\n").length + (match[1] === undefined ? 1 : 3),
      browser: match[1] !== undefined,
      shown: match[3] !== undefined,
    }),
  );
}
