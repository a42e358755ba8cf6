/** The worker: the language of scenarios behind messages. */
import { expose } from "comlink";
import schema from "flowsteer/schema/scenario-1.schema.json";
import { SchemaLanguage } from "./service.js";

expose(new SchemaLanguage(schema));
