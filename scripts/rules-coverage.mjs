#!/usr/bin/env node
// Writes docs/rules-coverage.md: runs the cases that test/mlx5dv/coverage/coverage.test.ts runs, and writes what they assert.
//
//     node --import tsx scripts/rules-coverage.mjs
//
// It wants the core (npm run build). A case that fails ends it.

import { writeFileSync } from "node:fs";
import { coveragePage } from "../test/mlx5dv/coverage/support/table.ts";

writeFileSync(new URL("../docs/rules-coverage.md", import.meta.url), await coveragePage());
