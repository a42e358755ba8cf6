/** Continues a network from its snapshot, and prints what it comes to: `node --import tsx goOn.ts FILE`. */
import { readFileSync } from "node:fs";
import { restoreFabric } from "../../../src/fabric/index.js";
import { answer, digestOf, type Network } from "./network.js";

async function main(file: string): Promise<void> {
  const core = new URL(`../../../build/${process.env["FLOWSTEER_CORE"] ?? "release"}/core.wasm`, import.meta.url);
  const { fabric, kept } = await restoreFabric<Network>(readFileSync(file), { core });
  const log: string[] = [];
  answer(kept, log);
  fabric.run();
  console.log(`${log.length} ${digestOf(fabric, kept, log)}`);
}

await main(process.argv[2] as string);
