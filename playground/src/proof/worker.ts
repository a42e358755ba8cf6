/** The worker of proofs. The page ends it to stop the work. */
import { expose } from "comlink";
import { prove } from "./prove.js";

const CORE = new URL("./traced.wasm", import.meta.url);

const prover = { prove: (text: string) => prove(text, CORE) };

export type Prover = typeof prover;

expose(prover);
