/** The worker: the engine behind messages. */
import { expose } from "comlink";
import { Session } from "./session.js";

expose(
  new Session({
    traced: new URL("./traced.wasm", import.meta.url),
    release: new URL("./core.wasm", import.meta.url),
  }),
);
