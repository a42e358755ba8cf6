/**
 * Where the core comes from. Node reads the file beside this module, browsers fetch it, and a caller may bring it:
 * a URL, a Response, bytes, or a compiled module.
 */
import { callsOf } from "./calls.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import { instanceNow, instanceOf } from "./instance.js";
import { rewrite, sharedMemory } from "./sharedModule.js";

/** Anything that `createDevice({ core })` takes. */
export type CoreSource = CoreBytes | WebAssembly.Module;
type CoreBytes = URL | string | Response | ArrayBuffer | Uint8Array;

/** Not written within `new URL`: there webpack takes a variable for a folder of files that it should bundle. */
const HERE = import.meta.url;

const modules = new Map<string, Promise<WebAssembly.Module>>();
/** Those of `modules` that are ready. */
const ready = new Map<string, WebAssembly.Module>();

/** A new instance of the core: one core's worth of engine, nothing shared with others. */
export async function loadCore(source: CoreSource = coreUrl()): Promise<Core> {
  const { exports } = await instanceOf(await moduleOf(source));
  return new Core(callsOf(exports));
}

/**
 * As `loadCore`, at once: from a compiled module or bytes, from a file, or from a place whose module is ready already.
 * Null where the module has to be fetched first.
 */
export function loadCoreNow(source: CoreSource = coreUrl()): Core | null {
  const module = moduleNow(source);
  return module === null ? null : new Core(callsOf(instanceNow(module).exports));
}

function moduleNow(source: CoreSource): WebAssembly.Module | null {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || source instanceof Uint8Array)
    return new WebAssembly.Module(source as BufferSource);
  if (isResponse(source)) return null;
  if (typeof source !== "string" && !(source instanceof URL))
    throw new TypeError("createDeviceSync: core must be a URL, bytes or a compiled module");
  const url = new URL(source, HERE).href;
  const found = ready.get(url) ?? (url.startsWith("file:") ? compiledFile(url) : null);
  if (found !== null) ready.set(url, found);
  return found;
}

/** A core that others can be copies of, and the module of all. */
export interface FirstCore {
  readonly exports: CoreExports;
  readonly module: WebAssembly.Module;
}

/** The first core of several; null where the caller brings a compiled module, which is one core's alone. */
export async function loadFirstCore(source: CoreSource = coreUrl()): Promise<FirstCore | null> {
  if (source instanceof WebAssembly.Module) return null;
  const { bytes, pages } = rewrite(new Uint8Array(await bytesOf(source)));
  const module = await WebAssembly.compile(bytes);
  const { exports } = await instanceOf(module, { env: { memory: sharedMemory(pages) } });
  return { exports: callsOf(exports), module };
}

/** The traced core (tracedCore.ts), beside the core. */
export function tracedCoreUrl(): URL {
  return import.meta.bundled
    ? new URL("./traced.wasm", import.meta.url)
    : new URL("../../build/traced/core.wasm", import.meta.url);
}

function coreUrl(): URL {
  return import.meta.bundled
    ? new URL("./core.wasm", import.meta.url)
    : new URL(`../../build/${import.meta.env?.["FLOWSTEER_CORE"] ?? "release"}/core.wasm`, import.meta.url);
}

/**
 * Compiles the core, for the `core` of `createDevice` and `createDeviceSync`: of all devices of this thread, and of others
 * that get the module by `postMessage`.
 * @param source a URL, a Response, bytes. @default the file beside this module
 * @throws TypeError no such source; WebAssembly.CompileError; Error: a URL that cannot be loaded
 * @example
 *     const core = await compileCore();
 *     const devices = Array.from({ length: 1000 }, (_, n) => createDeviceSync({ name: `nic${n}`, core }));
 */
export function compileCore(source: CoreSource = coreUrl()): Promise<WebAssembly.Module> {
  return moduleOf(source);
}

/** The compiled module; compiled once for each URL. */
export async function moduleOf(source: CoreSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source !== "string" && !(source instanceof URL)) return compile(await bytesOf(source));
  const url = new URL(source, HERE).href;
  let module = modules.get(url);
  if (module === undefined) {
    module = url.startsWith("file:") ? Promise.resolve(url).then(compiledFile) : bytesAt(url).then(compile);
    modules.set(url, module);
    module.then(
      (one) => ready.set(url, one),
      () => modules.delete(url),
    );
  }
  return module;
}

/** By what it can do: to ask Node for the class `Response` loads its HTTP client, which takes longer than all else here. */
function isResponse(source: unknown): source is Response {
  return typeof source === "object" && source !== null && "arrayBuffer" in source;
}

/** At once, as it is read: functions are compiled when they are first called, so what is left takes less than to wait for threads. */
function compiledFile(url: string): WebAssembly.Module {
  return new WebAssembly.Module(readFile(url));
}

function compile(bytes: ArrayBuffer | Uint8Array): Promise<WebAssembly.Module> {
  return WebAssembly.compile(bytes as BufferSource);
}

async function bytesOf(source: CoreBytes): Promise<ArrayBuffer | Uint8Array> {
  if (source instanceof ArrayBuffer || source instanceof Uint8Array) return source;
  if (isResponse(source)) return source.arrayBuffer();
  if (typeof source !== "string" && !(source instanceof URL))
    throw new TypeError("createDevice: core must be a URL, a Response, bytes or a compiled module");
  return bytesAt(new URL(source, HERE).href);
}

async function bytesAt(url: string): Promise<ArrayBuffer | Uint8Array> {
  if (url.startsWith("file:")) return readFile(url);
  const response = await fetch(url).catch((error: unknown) => missing(url, String(error)));
  if (!response.ok) missing(url, `${response.status} ${response.statusText}`.trimEnd());
  // Servers of single-page applications answer with the page.
  if (response.headers.get("content-type")?.startsWith("text/html") === true) missing(url, "it is a web page");
  return response.arrayBuffer();
}

/** @throws Error says which file to copy */
function missing(url: string, why: string): never {
  const name = url.split(/[?#]/, 1)[0]?.split("/").at(-1) ?? "";
  const file = name === "traced.wasm" ? name : "core.wasm";
  const copy = `copy node_modules/flowsteer/dist/${file} there, or give its place with { core } (docs/bundlers.md)`;
  throw new Error(`flowsteer: ${url} cannot be loaded: ${why}; ${copy}`);
}

/** No import statement: bundlers for the web would follow it. */
function readFile(url: string): Uint8Array<ArrayBuffer> {
  return process.getBuiltinModule("node:fs").readFileSync(new URL(url));
}
