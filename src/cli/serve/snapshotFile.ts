/** Files of snapshots: a served device is written at the end, and goes on from there at the next start. */
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SteeringError } from "../../index.js";
import { restoreScenario, savedScenario, type LoadedScenario } from "../../scenario/index.js";
import { attachmentsOf, restoreDevice, snapshotOf } from "../../snapshot/index.js";
import { replaceFile } from "../output/wholeFile.js";
import { badUsage } from "../refusal.js";

/** A snapshot has the keys of ESP: only the user of the process reads it. */
const OWN = 0o600;

/** The bytes of a served scenario. @throws SteeringError something that no snapshot holds */
export function snapshotBytes(loaded: LoadedScenario): Uint8Array {
  return snapshotOf(loaded.device, { keep: savedScenario(loaded) });
}

/** Restores a served scenario. Its ports have no cables. @throws CommandRefusal no such file, or no snapshot of a scenario */
export async function restoreFile(file: string): Promise<LoadedScenario> {
  const option = `--restore ${file}`;
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw badUsage(option, (error as Error).message);
  }
  try {
    const attach = Object.fromEntries(attachmentsOf(bytes).map((name) => [name, null]));
    const { device, kept } = await restoreDevice(bytes, { attach });
    return await restoreScenario(device, kept);
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    throw badUsage(option, error.message);
  }
}

/** Refuses a place without a folder, and what is there and no file, before anything is served: a rename would replace it. */
export function checkSnapshotPlace(file: string): void {
  const folder = dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw badUsage(`--snapshot ${file}`, `folder ${folder} does not exist`);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) throw badUsage(`--snapshot ${file}`, "is a folder; name a file");
  if (there?.isFile() === false) throw badUsage(`--snapshot ${file}`, "is not a regular file; name a file");
}

/** What became of the snapshot at the end. */
export type WrittenSnapshot =
  { readonly file: string; readonly bytes: number } | { readonly file: string; readonly error: string };

/** Writes a snapshot. An older file stays whole until the new one is. */
export function writeSnapshot(loaded: LoadedScenario, file: string): WrittenSnapshot {
  try {
    const bytes = snapshotBytes(loaded);
    replaceFile(file, bytes, OWN);
    return { file, bytes: bytes.length };
  } catch (error) {
    return { file, error: (error as Error).message };
  }
}
