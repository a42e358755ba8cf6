/** The language worker, started when it is first asked. */
import { wrap, type Remote } from "comlink";
import type { Language } from "./api.js";

let remote: Remote<Language> | null = null;

export function language(): Remote<Language> {
  remote ??= wrap<Language>(
    new Worker(new URL("./language.js", import.meta.url), { type: "module", name: "language" }),
  );
  return remote;
}
