#!/usr/bin/env node
/**
 * Makes one folder of static files: front page, playground, guides, API reference.
 *
 *   node scripts/site.mjs [FOLDER] [--no-api]    default: build/site; after scripts/build.mjs has made the cores
 *
 * Pages lie as their sources do in the repository, so links between them stay as they are.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { Marked } from "marked";
import { buildPlayground, PAGE_OPTIONS } from "./playground.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
  options: { "no-api": { type: "boolean", default: false } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(root, "build/site"));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await buildPlayground(join(folder, "playground"));
await frontPage();
for (const name of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]) guide(name);
for (const name of readdirSync(join(root, "docs"), { recursive: true })) {
  if (name.endsWith(".md")) guide(posix.join("docs", name.replaceAll("\\", "/")));
}
// A page among the examples works once it is bundled.
const isSource = (path) => !path.endsWith(".html");
cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true, filter: isSource });
cpSync(join(root, "schema"), join(folder, "schema"), { recursive: true });
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
for (const name of ["examples/README.md", "examples/python/README.md"]) guide(name);
if (!values["no-api"]) reference();
console.log(`site: ${relative(process.cwd(), folder)}/index.html`);

async function frontPage() {
  await build({
    ...PAGE_OPTIONS,
    entryPoints: { front: join(root, "playground/site/front.ts") },
    chunkNames: "front-[hash]",
    outdir: folder,
  });
  await build({
    entryPoints: { site: join(root, "playground/styles/site.css") },
    outdir: folder,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  cpSync(join(root, "playground/site/index.html"), join(folder, "index.html"));
}

/** Renders a page of the repository. */
function guide(path) {
  const up = posix.relative(posix.dirname(path), ".") || ".";
  const text = readFileSync(join(root, path), "utf8");
  const title = /^# (.*)$/m.exec(text)?.[1] ?? path;
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escaped(title)} - flowsteer</title>
    <link rel="icon" href="${up}/playground/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${up}/site.css" />
  </head>
  <body>
    <header class="site-bar">
      <a class="name" href="${up}/index.html">flowsteer</a>
      <nav aria-label="Site">
        <a href="${up}/playground/index.html">Playground</a>
        <a href="${up}/docs/README.html">Guides</a>
        <a href="${up}/api/index.html">API</a>
      </nav>
    </header>
    <main class="guide">
${rendered(text)}
    </main>
  </body>
</html>
`;
  const file = join(folder, path.replace(/\.md$/, ".html"));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, html);
}

/** Headings have the anchors that GitHub gives them; pages of the site have the ending .html. */
function rendered(text) {
  const known = new Map();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text: plain }) {
        const slug = slugOf(plain, known);
        return `<h${depth} id="${slug}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code({ text: code }) {
        return `<pre tabindex="0"><code>${escaped(code)}\n</code></pre>\n`;
      },
    },
    walkTokens(token) {
      if (token.type === "link" && !/^[a-z]+:/i.test(token.href))
        token.href = token.href.replace(/\.md(?=#|$)/, ".html");
    },
  });
  return marked.parse(text);
}

function slugOf(heading, known) {
  const slug = heading
    .toLowerCase()
    .replace(/[`*]/g, "")
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
  const count = known.get(slug) ?? 0;
  known.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

function reference() {
  const typedoc = spawnSync(
    process.execPath,
    [join(root, "node_modules/typedoc/bin/typedoc"), "--out", join(folder, "api"), "--logLevel", "Warn"],
    { cwd: root, stdio: "inherit" },
  );
  if (typedoc.status !== 0) {
    console.error("site: the API reference was not made");
    process.exit(1);
  }
}
