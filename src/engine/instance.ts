/**
 * Instantiates the core. The cores of the package import nothing. One with assertions (debug) imports `abort`: the
 * AssemblyScript loader, which loads only then, throws an error with the message, file and line. Callers use the raw
 * exports: the wrappers that the loader puts around them take four times as long a call.
 */

const IN_NODE = typeof process === "object" && typeof process.getBuiltinModule === "function";

/** As `instanceOf`, at once: without the loader, so a failed assertion has no message. */
export function instanceNow(module: WebAssembly.Module): WebAssembly.Instance {
  return new WebAssembly.Instance(module, { env: { abort: assertionFailed } });
}

export async function instanceOf(
  module: WebAssembly.Module,
  imports: Record<string, Record<string, WebAssembly.ImportValue>> = {},
): Promise<WebAssembly.Instance> {
  if (WebAssembly.Module.imports(module).some(({ name }) => name === "abort")) {
    const { instantiateSync } = await import("@assemblyscript/loader");
    return instantiateSync(module, imports).instance;
  }
  // Node has no limit for what is instantiated at once, and is faster so.
  return IN_NODE ? new WebAssembly.Instance(module, imports) : WebAssembly.instantiate(module, imports);
}

function assertionFailed(): never {
  throw new Error("an assertion of the core failed: createDevice shows its message");
}
