#!/usr/bin/env node
// Writes schema/scenario-1.schema.json, which test/scenario holds equal to the schema that scenarios are checked by:
//
//     node --import tsx scripts/make-schema.mjs

import { mkdirSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { SCENARIO_SCHEMA } from "../src/scenario/schema/scenario.ts";

mkdirSync(new URL("../schema/", import.meta.url), { recursive: true });
writeFileSync(
  new URL("../schema/scenario-1.schema.json", import.meta.url),
  await format(JSON.stringify(SCENARIO_SCHEMA), { parser: "json", printWidth: 120 }),
);
