#!/usr/bin/env node
// Writes test/golden/dump/hardware.csv, a random dump of hardware steering, and hardware.txt: what the public steering dump tool
// reads in it.
//
//     node --import tsx scripts/golden-hardware-dump.mjs <path of hws/mlx_hw_steering_parser.py> [SEED] [RULES OF A MATCHER]
//
// The tool is that of github.com/Mellanox/mlx_steering_dump (made with commit 5168af1f3c2a of 2026-03-23, Python 3.11).

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Random } from "../test/oracle/generate/random.ts";
import { drawDump } from "./golden-hardware-dump/draw.mjs";

const [tool, seed = "1", rules = "4"] = process.argv.slice(2);
if (tool === undefined) throw new Error("which mlx_hw_steering_parser.py?");
const path = (name) => fileURLToPath(new URL(`../test/golden/dump/${name}`, import.meta.url));
const dump = path("hardware.csv");
writeFileSync(dump, drawDump(new Random(Number(seed)), Number(rules)));
execFileSync("python3", [tool, "-f", dump, "--skip_dump", "--max_cores", "1", "-vvv"], { cwd: dirname(tool) });
writeFileSync(path("hardware.txt"), readFileSync(`${dump}.parsed`));
rmSync(`${dump}.parsed`);
