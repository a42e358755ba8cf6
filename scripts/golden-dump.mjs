#!/usr/bin/env node
// Writes test/golden/dump/: the dump of test/mlx5dv/support/dumpScene.ts, and what the public steering dump tool reads in it.
//
//     node --import tsx scripts/golden-dump.mjs <path of sws/mlx_steering_dump_parser.py>
//
// The tool is that of github.com/Mellanox/mlx_steering_dump (made with commit 5168af1f3c2a of 2026-03-23, Python 3.11). It
// wants the core (npm run build).

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openScene, sceneText } from "../test/mlx5dv/support/dumpScene.ts";

const [tool] = process.argv.slice(2);
if (tool === undefined) throw new Error("which mlx_steering_dump_parser.py?");
const folder = new URL("../test/golden/dump/", import.meta.url);
mkdirSync(folder, { recursive: true });
const dump = fileURLToPath(new URL("scene.csv", folder));
writeFileSync(dump, sceneText(await openScene()));
writeFileSync(new URL("tree.txt", folder), execFileSync("python3", ["-W", "ignore", tool, "-f", dump, "-t", "-vvv"]));
