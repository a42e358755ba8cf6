/**
 * Gives instances of the coverage core the function that they import. Until the result is called, every instance made in
 * this process tells `hit` the number of each statement that it executes.
 * @param {(statement: number) => void} hit
 * @returns {() => void} instances are made as before
 */
export function tellHits(hit) {
  const withHit = (imports) => {
    const before = imports?.coverage?.hit;
    const both = (statement) => {
      before(statement);
      hit(statement);
    };
    return { ...imports, coverage: { hit: before === undefined ? hit : both } };
  };
  const { instantiate, instantiateStreaming, Instance } = WebAssembly;
  WebAssembly.instantiate = (source, imports) => instantiate(source, withHit(imports));
  WebAssembly.instantiateStreaming = (source, imports) => instantiateStreaming(source, withHit(imports));
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]) => new target(module, withHit(imports)),
  });
  return () => void Object.assign(WebAssembly, { instantiate, instantiateStreaming, Instance });
}

/** The script of a thread, as `file` or in the text of a script that runs it. */
const SCRIPT = /file:[^"]*\/build\/worker\.js/;

/**
 * The same for threads of pools that this process starts from now on: they write 1 to the place of each statement that
 * they execute.
 * @param {Uint8Array} reached of shared memory
 */
export function tellHitsOfThreads(reached) {
  const threads = process.getBuiltinModule("node:worker_threads");
  const counting = new URL("coverage-thread.mjs", import.meta.url);
  threads.Worker = new Proxy(threads.Worker, {
    construct(target, [file, options], caller) {
      const script = SCRIPT.exec(String(file))?.[0];
      if (script === undefined) return Reflect.construct(target, [file, options], caller);
      const other = options.eval ? file.replace(script, counting.href) : counting;
      return Reflect.construct(target, [other, { ...options, workerData: { script, reached } }], caller);
    },
  });
}
