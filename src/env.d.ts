/** What the bundler and the test runner add. Not published. */

interface ImportMeta {
  /** Set by the bundler; undefined where the sources run as they are. */
  readonly bundled?: boolean;
  /** Set by the test runner: FLOWSTEER_CORE names the flavour of the core. */
  readonly env?: Record<string, string | undefined>;
}

declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}

/** The test runner's: the file as text. */
declare module "*?raw" {
  const text: string;
  export default text;
}
