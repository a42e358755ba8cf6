/** An expectation that was not met. */
export interface Failure {
  /** Its place in the document, such as `expect.frames[2].verdict`. */
  path: string;
  /** What it is about, in words: `frame 3 "syn to web"`, `counter web-frames`. */
  about: string;
  /** Which property of that: `verdict`, `packets`. */
  what: string;
  expected: unknown;
  got: unknown;
}
