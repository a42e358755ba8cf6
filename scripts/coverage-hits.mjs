/**
 * Gives instances of the coverage core the function that they import. Until the result is called, every instance made in
 * this process tells `hit` the number of each statement that it executes.
 * @param {(statement: number) => void} hit
 * @returns {() => void} instances are made as before
 */
export function tellHits(hit) {
  const withHit = (imports) => ({ ...imports, coverage: { hit } });
  const { instantiate, instantiateStreaming, Instance } = WebAssembly;
  WebAssembly.instantiate = (source, imports) => instantiate(source, withHit(imports));
  WebAssembly.instantiateStreaming = (source, imports) => instantiateStreaming(source, withHit(imports));
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]) => new target(module, withHit(imports)),
  });
  return () => void Object.assign(WebAssembly, { instantiate, instantiateStreaming, Instance });
}
