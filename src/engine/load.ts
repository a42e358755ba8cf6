/**
 * Where the core comes from. Node reads the file beside this module, browsers fetch it, and a caller may bring it:
 * a URL, a Response, bytes, or a compiled module.
 */
import { Core, type CoreExports } from "./core.js";

/** Anything that `createDevice({ core })` takes. */
export type CoreSource = URL | string | Response | ArrayBuffer | Uint8Array | WebAssembly.Module;

const modules = new Map<string, Promise<WebAssembly.Module>>();

/** A new instance of the core: one core's worth of engine, nothing shared with others. */
export async function loadCore(source: CoreSource = coreUrl()): Promise<Core> {
  const { exports } = await WebAssembly.instantiate(await moduleOf(source), { env: { abort: trap } });
  return new Core(exports as unknown as CoreExports);
}

function coreUrl(): URL {
  return import.meta.bundled
    ? new URL("./core.wasm", import.meta.url)
    : new URL(`../../build/${import.meta.env?.["FLOWSTEER_CORE"] ?? "release"}/core.wasm`, import.meta.url);
}

/** The compiled module; compiled once for each URL. */
async function moduleOf(source: CoreSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return compile(source);
  if (isResponse(source)) return compile(await source.arrayBuffer());
  if (typeof source !== "string" && !(source instanceof URL))
    throw new TypeError("createDevice: core must be a URL, a Response, bytes or a compiled module");
  const url = new URL(source, import.meta.url).href;
  let module = modules.get(url);
  if (module === undefined) {
    module = bytesAt(url).then(compile);
    modules.set(url, module);
    module.catch(() => modules.delete(url));
  }
  return module;
}

/** By what it can do: to ask Node for the class `Response` loads its HTTP client, which takes longer than all else here. */
function isResponse(source: unknown): source is Response {
  return typeof source === "object" && source !== null && "arrayBuffer" in source;
}

function compile(bytes: ArrayBuffer | Uint8Array): Promise<WebAssembly.Module> {
  return WebAssembly.compile(bytes as BufferSource);
}

async function bytesAt(url: string): Promise<ArrayBuffer | Uint8Array> {
  if (url.startsWith("file:")) {
    // No import statement: bundlers for the web would follow it. Once a process, and at once: threads to wait for take longer.
    return process.getBuiltinModule("node:fs").readFileSync(new URL(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`core.wasm: ${response.status} ${response.statusText} at ${url}`);
  return response.arrayBuffer();
}

/** An assertion of a debug build: a defect of ours, whatever came in. */
function trap(_message: number, _file: number, line: number, column: number): never {
  throw new WebAssembly.RuntimeError(`flowsteer core: assertion failed at ${line}:${column}`);
}
