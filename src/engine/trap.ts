/** An assertion of a debug build: a defect of ours, whatever came in. */
export function trap(_message: number, _file: number, line: number, column: number): never {
  throw new WebAssembly.RuntimeError(`flowsteer core: assertion failed at ${line}:${column}`);
}
