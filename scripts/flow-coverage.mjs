#!/usr/bin/env node
// Writes docs/flow-coverage.md: runs the cases that test/verbs/coverage/coverage.test.ts runs, and writes what they assert.
//
//     node --import tsx scripts/flow-coverage.mjs
//
// It wants the core (npm run build). A case that fails ends it.

import { writeFileSync } from "node:fs";
import { coveragePage } from "../test/verbs/coverage/support/table.ts";

writeFileSync(new URL("../docs/flow-coverage.md", import.meta.url), await coveragePage());
