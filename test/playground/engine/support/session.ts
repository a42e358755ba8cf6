/** The engine of the playground in Node, without a browser. */
import { readFileSync } from "node:fs";
import { Session } from "../../../../playground/src/engine/session.js";
import type { Answer } from "../../../../playground/src/engine/api.js";

const root = new URL("../../../../", import.meta.url);

export const CORES = {
  traced: new URL("build/traced/core.wasm", root),
  release: new URL("build/release/core.wasm", root),
};

export function newSession(): Session {
  return new Session(CORES);
}

export function exampleText(name: string): string {
  return readFileSync(new URL(`examples/${name}`, root), "utf8");
}

export function exampleBytes(name: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(readFileSync(new URL(`examples/${name}`, root)));
}

/** The answer to rules that are good and that no newer ones replace. */
export function good(answer: Answer | null): Answer & {
  readonly totals: NonNullable<Answer["totals"]>;
  readonly pipeline: NonNullable<Answer["pipeline"]>;
} {
  if (answer === null) throw new Error("the call was superseded");
  const { totals, pipeline, refusals } = answer;
  if (refusals.length > 0) throw new Error(refusals.map(({ message }) => message).join("\n"));
  if (totals === null || pipeline === null) throw new Error("no rules are loaded");
  return { ...answer, totals, pipeline };
}
