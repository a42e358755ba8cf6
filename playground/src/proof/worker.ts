/** The worker of proofs. The page ends it to stop the work. */
import { expose } from "comlink";
import type { ComparedRules, ProofProgress, Proved } from "./api.js";

const CORE = new URL("./traced.wasm", import.meta.url);

const prover = {
  /** Null for rules that are refused. */
  prove: async (text: string): Promise<Proved | null> => (await import("./prove.js")).prove(text, CORE),
  /** Null where either rules are refused. */
  compare: async (before: string, now: string, progress: ProofProgress): Promise<ComparedRules | null> =>
    (await import("./compare.js")).compareRules(before, now, CORE, progress),
};

export type Prover = typeof prover;

expose(prover);
