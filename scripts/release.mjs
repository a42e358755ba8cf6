#!/usr/bin/env node
/**
 * Makes a release, and publishes it:
 *
 *   npm run release -- 0.1.0 --dry-run    everything but the commit, the tag and the publication
 *   npm run release -- 0.1.0              in CI with an identity (npm publish --provenance)
 *
 * build/publish/ gets the tarball, its SBOM (CycloneDX), the notes of the changelog and the site. Nothing is
 * published unless the tarball holds its promises (check-package.mjs) and runs the program of the README in
 * an empty project.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { problemsOfInstall } from "./fresh-install.mjs";

const OUT = "build/publish";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { values, positionals } = parseArgs({
  options: { "dry-run": { type: "boolean", default: false } },
  allowPositionals: true,
});
const isDry = values["dry-run"];
const [version = ""] = positionals;
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) fail("usage: npm run release -- VERSION [--dry-run]");

const notes = checkedNotes();
checkTree();
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
if (!isDry) commit();
const tarball = packed();
checkTarball(tarball);
writeFileSync(join(OUT, "notes.md"), notes);
run("node", "scripts/site.mjs", join(OUT, "site"));
publish(tarball);

/** The part of the changelog about this version, which has a date except in a dry run. */
function checkedNotes() {
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const [, heading = "", state = "", text = ""] =
    /^## (\S+) \(([^)]+)\)\n+([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
  if (heading !== version) fail(`CHANGELOG.md begins with ${heading || "no version"}: write what ${version} brings`);
  if (text.trim() === "") fail(`CHANGELOG.md has nothing about ${version}`);
  if (!isDry && !/^\d{4}-\d\d-\d\d$/.test(state)) fail(`CHANGELOG.md: write the date in place of (${state})`);
  return text;
}

/** A release is of what is committed. */
function checkTree() {
  if (isDry) return;
  if (output("git", "status", "--porcelain") !== "") fail("there are changes that are not committed");
  if (output("git", "tag", "--list", `v${version}`) !== "") fail(`the tag v${version} exists`);
}

/** The version in package.json and its lock, as a commit with a tag. */
function commit() {
  run("npm", "version", version, "--allow-same-version", "--message", "Release %s");
}

function packed() {
  run("npm", "pack", "--pack-destination", OUT);
  return join(OUT, `flowsteer-${version}.tgz`);
}

/** @throws unless it holds its promises. Its SBOM is that of a project which has installed it. */
function checkTarball(tarball) {
  run("npx", "--no-install", "publint", "run", tarball, "--strict");
  run("node", "scripts/check-package.mjs", tarball);
  const problems = problemsOfInstall(tarball, (folder) => {
    const sbom = spawnSync("npm", ["sbom", "--sbom-format", "cyclonedx"], { cwd: folder, encoding: "utf8" });
    if (sbom.status !== 0) fail(`npm sbom: ${sbom.stderr}`);
    writeFileSync(join(OUT, "sbom.cdx.json"), sbom.stdout);
  });
  if (problems.length > 0) fail(problems.join("\n"));
}

function publish(tarball) {
  const args = ["publish", resolve(tarball), "--access", "public", "--provenance"];
  console.log(`release: ${OUT}/ has the tarball, its SBOM, the notes and the site`);
  if (isDry) console.log(`release: a dry run ends before: npm ${args.join(" ")}; git push --follow-tags`);
  else {
    run("npm", ...args);
    run("git", "push", "--follow-tags");
  }
}

function output(command, ...args) {
  return run(command, ...args).stdout.trim();
}

/** Runs a command; the release ends where it fails. */
function run(command, ...args) {
  console.log(`release: ${command} ${args.join(" ")}`);
  const result = spawnSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 28,
  });
  if (result.status !== 0) fail(`${command} ended with ${result.status ?? result.signal}\n${result.stdout ?? ""}`);
  return result;
}

function fail(text) {
  console.error(`release: ${text}`);
  process.exit(1);
}
