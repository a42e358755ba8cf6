/** The JSON Schema of scenario documents, published as schema/scenario-1.schema.json. */
import { SCENARIO } from "../document.js";
import type { JsonSchema } from "./jsonSchema.js";
import { publish } from "./publish.js";

/** Where the package has the schema: what `import.meta.resolve` finds. */
export const SCENARIO_SCHEMA_ID = "flowsteer/schema/scenario-1.schema.json";

export const SCENARIO_SCHEMA: JsonSchema = publish(
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: SCENARIO_SCHEMA_ID,
    title: "flowsteer scenario, version 1",
  },
  SCENARIO,
);
