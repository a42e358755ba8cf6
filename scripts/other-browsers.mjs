#!/usr/bin/env node
/**
 * Runs the built playground in Firefox and WebKitGTK where they are installed, and prints what works there.
 *
 *   node --import tsx scripts/other-browsers.mjs [firefox|webkit]    after node scripts/playground.mjs
 *
 * Debian: firefox-esr; webkit2gtk-driver and xvfb. Screenshots go to build/screenshots/.
 */
/* global frames, probe */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { servePage } from "../src/cli/serve/pageServer.js";
import { CHECKS } from "./browsers/checks.mjs";
import { findFirefox, startFirefox } from "./browsers/firefox.mjs";
import { Session } from "./browsers/session.mjs";
import { findWebKit, startWebKit } from "./browsers/webkit.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const BUILT = join(root, "dist/playground");
const SHOTS = join(root, "build/screenshots");

const ENGINES = {
  firefox: { find: findFirefox, start: startFirefox },
  webkit: { find: findWebKit, start: startWebKit },
};

/** A phone's view: no browser makes its window so narrow. */
const NARROW = `<!doctype html><title>narrow</title><iframe width="390" height="844" src="./index.html?narrow"></iframe>`;

/** The pages with the probe before their own scripts: files of their origin, as the policy asks. */
function served() {
  const files = new Map([["probe.js", join(root, "scripts/browsers/probe.js")]]);
  for (const name of ["index.html", "speed.html"]) {
    const text = readFileSync(join(BUILT, name), "utf8");
    files.set(name, Buffer.from(text.replace("<script ", '<script src="./probe.js"></script>$&')));
  }
  return files.set("narrow.html", Buffer.from(NARROW));
}

async function runChecks(session, url, engine) {
  const failures = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const began = performance.now();
    const error = await check(session, url).then(
      () => null,
      (thrown) => String(thrown.message ?? thrown),
    );
    const faults = await session.run(() => globalThis.probe?.faults.splice(0) ?? []).catch(() => []);
    const found = [error, ...faults].filter((one) => one !== null);
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    console.log(`${found.length === 0 ? "ok    " : "FAILED"} ${seconds} s  ${name}`);
    for (const one of found) console.log(`                   ${one}`);
    if (found.length > 0) {
      failures.push(name);
      writeFileSync(join(SHOTS, `${engine}-failed-${failures.length}.png`), await session.screenshot());
    }
  }
  return failures;
}

/** The page with a capture and a frame that is explained. */
async function openExplained(session, url) {
  await session.open(url);
  await session.click("[data-place='1']");
  await session.until("why", () => probe.find(".why-answer")?.textContent.length > 20);
}

async function takeScreenshots(start, found, url, engine) {
  for (const dark of [false, true]) {
    const session = new Session(await start(found, { dark }));
    const shot = async (name) =>
      writeFileSync(join(SHOTS, `${engine}-${name}-${dark ? "dark" : "light"}.png`), await session.screenshot());
    try {
      await session.resize(1440, 900);
      await openExplained(session, `${url}?shot`);
      await shot("page");
      await session.open(`${url}narrow.html`);
      await session.until("the narrow page", () => frames[0].probe?.all(".tabs [role=tab]").length > 3);
      await session.until("an answer", () => frames[0].probe.text(".health").includes("0 errors"));
      for (const tab of ["rules", "frames", "way", "totals"]) {
        await session.run((id) => void frames[0].document.getElementById(id).click(), `tab-${tab}`);
        await session.run(() => new Promise((resolve) => void setTimeout(resolve, 500)));
        await shot(`narrow-${tab}`);
      }
    } finally {
      await session.close();
    }
  }
}

async function runEngine(engine, found) {
  const server = await servePage(BUILT, served(), 0);
  try {
    const session = new Session(await ENGINES[engine].start(found, { dark: false }));
    try {
      await session.resize(1440, 900);
      console.log(`\n${session.name}`);
      return await runChecks(session, server.url, engine);
    } finally {
      await session.close();
      await takeScreenshots(ENGINES[engine].start, found, server.url, engine).catch((error) => console.log(error));
    }
  } finally {
    await server.close();
  }
}

const wanted = process.argv.slice(2);
mkdirSync(SHOTS, { recursive: true });
for (const [engine, { find }] of Object.entries(ENGINES)) {
  if (wanted.length > 0 && !wanted.includes(engine)) continue;
  const found = find();
  if (found === undefined) console.log(`\n${engine}: not installed`);
  else if ((await runEngine(engine, found)).length > 0) process.exitCode = 1;
}
