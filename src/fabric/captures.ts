/** Captures of cables: pcapng with an interface for each end. */
import { wrongType } from "../base/checks.js";
import { refuse } from "../errors.js";
import { LINK_TYPES } from "../packet/capture/linkTypes.js";
import { PcapngWriter } from "../packet/capture/writer.js";

/** A file, in Node.js, or a function that gets the bytes of the file piece by piece. */
export type CaptureTarget = string | ((bytes: Uint8Array) => void);

/** A capture in progress. */
export interface Capture {
  /** Writes a frame that the port at this end gives to the cable. */
  frame(end: 0 | 1, time: bigint, bytes: Uint8Array): void;
  /** Ends it, and closes its file. */
  end(): void;
}

/**
 * Begins a capture.
 * @param ports names of both ends
 * @throws TypeError; EINVAL a file where there are none, or that cannot be written
 */
export function openCapture(path: string, target: CaptureTarget, ports: readonly [string, string]): Capture {
  const writer = new PcapngWriter({
    interfaces: ports.map((name) => ({ linkType: LINK_TYPES.ETHERNET, nanoseconds: true, name })),
  });
  const output = outputOf(path, target);
  output.write(writer.header());
  return {
    frame: (interfaceId, time, bytes) => output.write(writer.frame({ time, bytes, interfaceId })),
    end: () => output.end(),
  };
}

interface Output {
  write(bytes: Uint8Array): void;
  end(): void;
}

function outputOf(path: string, target: CaptureTarget): Output {
  if (typeof target === "function") return { write: target, end: () => undefined };
  if (typeof target !== "string") wrongType(path, "the name of a file, or a function", target);
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") {
    const hint = "files are of Node.js: give a function that gets the bytes";
    return refuse({ code: "EINVAL", reason: "cannot_write", path, value: target, hint });
  }
  const { openSync, writeSync, closeSync } = process.getBuiltinModule("node:fs");
  let file: number;
  try {
    file = openSync(target, "w");
  } catch (error) {
    refuse({ code: "EINVAL", reason: "cannot_write", path, value: target, hint: (error as Error).message });
  }
  return { write: (bytes) => void writeSync(file, bytes), end: () => closeSync(file) };
}
