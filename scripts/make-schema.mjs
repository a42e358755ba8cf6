#!/usr/bin/env node
// Writes schema/scenario-1.schema.json, which a test holds equal to the definitions that scenarios are checked by:
//
//     node --import tsx scripts/make-schema.mjs

import { mkdirSync, writeFileSync } from "node:fs";
import { schemaText } from "../src/scenario/schema/publish.ts";
import { SCENARIO_SCHEMA } from "../src/scenario/schema/scenario.ts";

mkdirSync(new URL("../schema/", import.meta.url), { recursive: true });
writeFileSync(new URL("../schema/scenario-1.schema.json", import.meta.url), schemaText(SCENARIO_SCHEMA));
