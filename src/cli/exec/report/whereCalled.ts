/** Where in a program a call was made: function, file and line, by addr2line(1). */
import { execFile } from "node:child_process";
import { basename } from "node:path";
import type { CodePlace } from "./reports.js";

/** A place in a program; what its symbols do not tell is null. */
export interface SourcePlace {
  readonly module: string;
  /** The return address of the call in the module. */
  readonly offset: number;
  readonly function: string | null;
  readonly file: string | null;
  readonly line: number | null;
}

/** Libraries between a program and the device, and those that start programs. */
const BETWEEN = /^(ld-linux[^.]*|libc|libpthread|libibverbs|libmlx5|libflowsteer-verbs|lib[alt]san|libubsan)[-.]/;

/** Looks up return addresses, each once. */
export class WhereCalled {
  readonly #known = new Map<string, Promise<SourcePlace>>();
  readonly #tool: string;

  /** @param tool the program addr2line; where it is absent, places have what the dynamic symbols tell */
  constructor(tool = "addr2line") {
    this.#tool = tool;
  }

  /** The place of the first of the callers that is the program's own code; null without callers. */
  async of(callers: readonly CodePlace[]): Promise<SourcePlace | null> {
    const caller = callerOf(callers);
    if (caller === null) return null;
    const key = keyOf(caller);
    let place = this.#known.get(key);
    if (place === undefined) this.#known.set(key, (place = this.#find(caller)));
    return place;
  }

  async #find({ module, offset, symbol }: CodePlace): Promise<SourcePlace> {
    // The call is before its return address, which can be the next line or function.
    const args = ["-f", "-C", "-i", "-e", module, `0x${(offset - 1).toString(16)}`];
    const text = await new Promise<string>((resolve) => {
      execFile(this.#tool, args, (error, out) => resolve(error === null ? out : ""));
    });
    const [found = "", at = ""] = callOf(text.split("\n"));
    const [, file, line] = /^(.+):(\d+)/.exec(at) ?? [];
    const isKnown = file !== undefined && !file.startsWith("??");
    return {
      module,
      offset,
      function: found === "" || found === "??" ? symbol : found,
      file: isKnown ? file : null,
      line: isKnown && line !== "0" ? Number(line) : null,
    };
  }
}

/** Inline functions of these are between a program and the device, too. */
const HEADER = /^\/usr\/(?:local\/)?include\//;

/** The function and the place of a call, of those that were inlined into one another: the first that is the program's own. */
function callOf(lines: readonly string[]): readonly string[] {
  for (let n = 0; n + 1 < lines.length; n += 2) if (!HEADER.test(lines[n + 1] ?? "")) return lines.slice(n, n + 2);
  return lines.slice(0, 2);
}

/** The caller that is shown: the first outside of the libraries between program and device, else the first. */
export function callerOf(callers: readonly CodePlace[]): CodePlace | null {
  return callers.find(({ module }) => !BETWEEN.test(basename(module))) ?? callers[0] ?? null;
}

export function keyOf({ module, offset }: CodePlace): string {
  return `${module}+${offset}`;
}

/** `main.c:88`, `send_frames (program)` or `program+0x1234`. */
export function placeText(place: SourcePlace): string {
  const { module, offset, file, line } = place;
  if (file !== null && line !== null) return `${basename(file)}:${line}`;
  if (place.function !== null) return `${place.function} (${basename(module)})`;
  return `${basename(module)}+0x${offset.toString(16)}`;
}
