/** Runs every core of this thread on the compiled mutants, and switches them. */
import { readFileSync } from "node:fs";

const NONE = -1;
const ENDLESS = 1n << 62n;

/**
 * Replaces the core wherever one is instantiated. Cores that share memory stay: threads make those, which know nothing of the
 * switch.
 */
export function useMutants(path) {
  const mutants = new WebAssembly.Module(readFileSync(path));
  const mutant = new WebAssembly.Global({ value: "i32", mutable: true }, NONE);
  const turns = new WebAssembly.Global({ value: "i64", mutable: true }, ENDLESS);
  const words = [];
  const switches = { mutant, turns };
  for (const { module, name } of WebAssembly.Module.imports(mutants)) {
    if (module !== "mutants" || !name.startsWith("reached")) continue;
    words[Number(name.slice("reached".length))] = switches[name] = new WebAssembly.Global(
      { value: "i64", mutable: true },
      0n,
    );
  }

  const { instantiate, Instance } = WebAssembly;
  const isCore = (module) =>
    WebAssembly.Module.exports(module).some(({ name }) => name === "openMemory") &&
    !WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
  const replaced = (module, imports) =>
    isCore(module) ? [mutants, { ...imports, mutants: switches }] : [module, imports];
  WebAssembly.instantiate = async (source, imports) => {
    if (source instanceof WebAssembly.Module) return instantiate(...replaced(source, imports));
    const module = await WebAssembly.compile(source);
    return { module, instance: await instantiate(...replaced(module, imports)) };
  };
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]) => new target(...replaced(module, imports)),
  });

  return {
    /** Turns a mutant on, and gives loops so many turns until they trap. */
    set(number = NONE, left = ENDLESS) {
      mutant.value = number;
      turns.value = left;
    },
    /** Turns of loops since `set()`. */
    turns: () => ENDLESS - turns.value,
    /** Takes the bits of the mutants that were reached since the last call. */
    takeReached() {
      const bits = BigUint64Array.from(words, (word) => word?.value ?? 0n);
      for (const word of words) if (word !== undefined) word.value = 0n;
      return new Uint8Array(bits.buffer);
    },
  };
}
