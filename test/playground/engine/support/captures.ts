/** Captures for the tests of the engine, and what became of their frames, computed plainly. */
import { CaptureDecoder, type CapturedFrame, type Outcome } from "flowsteer";
import { cannotRun, loadScenario, outcomeNames, type LoadedScenario, type OutcomeNames } from "flowsteer/scenario";
import { CORES } from "./session.js";

/** The header of a pcap file. */
const HEADER = 24;

/** A pcap file whose frames are repeated. */
export function repeated(file: Uint8Array, times: number): Uint8Array<ArrayBuffer> {
  const frames = file.subarray(HEADER);
  const all = new Uint8Array(HEADER + times * frames.length);
  all.set(file.subarray(0, HEADER));
  for (let i = 0; i < times; i++) all.set(frames, HEADER + i * frames.length);
  return all;
}

export function framesIn(file: Uint8Array): CapturedFrame[] {
  const frames = new CaptureDecoder().push(file);
  return frames.map((frame) => ({ ...frame, bytes: frame.bytes.slice() }));
}

export interface Plain {
  readonly loaded: LoadedScenario;
  /** By frame; null for one that cannot be steered. */
  readonly outcomes: readonly (OutcomeNames | null)[];
}

/** Every frame by itself, in order, at port 1. */
export async function plainly(text: string, frames: readonly CapturedFrame[]): Promise<Plain> {
  const loaded = await loadScenario(text, { core: CORES.release });
  const outcomes = frames.map((frame) => {
    if (cannotRun(frame.linkType, frame.bytes.length) !== null) return null;
    const wireLength = Math.max(frame.wireLength, frame.bytes.length);
    const [outcome] = loaded.run([{ ...frame, wireLength, number: frame.number }]);
    return outcomeNames(outcome as Outcome);
  });
  return { loaded, outcomes };
}
