/**
 * Instantiates the core with the AssemblyScript loader. Callers use the raw exports: the wrappers that the loader puts
 * around them take four times as long a call. A failed assertion of a debug core throws an error with its message, file
 * and line.
 */
import { instantiate, instantiateSync, type Imports } from "@assemblyscript/loader";

const IN_NODE = typeof process === "object" && typeof process.getBuiltinModule === "function";

/** As `instanceOf`, at once. */
export function instanceNow(module: WebAssembly.Module): WebAssembly.Instance {
  return instantiateSync(module, {}).instance;
}

export async function instanceOf(module: WebAssembly.Module, imports: Imports = {}): Promise<WebAssembly.Instance> {
  // `instantiate` looks at the class `Response`. That makes Node load its HTTP client, which takes longer than all else.
  const { instance } = IN_NODE ? instantiateSync(module, imports) : await instantiate(module, imports);
  return instance;
}
