/**
 * What the coverage of the core comes to. A comment says why no input of a test reaches what follows it:
 *
 *     // Unreached: the caller has reserved the memory.
 *     if (block === 0) return false;
 *
 * It is about the points of the next line, and about all that cannot run if they do not: the rest of a block whose
 * statement it is.
 */

const COMMENT = /^\s*\/\/ ?(.*)$/;
const MARK = "Unreached: ";

/**
 * @typedef {{ file: string, line: number, column: number, kind: "statement" | "branch", last: number }} Point
 * `last`: the last line that does not run either if the point is not reached
 * @typedef {{ line: number, reason: string }} Explanation `line`: of the code that it is about
 */

/**
 * The explanations in the text of a file.
 * @param {string} text
 * @returns {Explanation[]}
 */
export function explanationsIn(text) {
  const lines = text.split("\n");
  const found = [];
  for (let i = 0; i < lines.length; i++) {
    const first = COMMENT.exec(lines[i])?.[1];
    if (first === undefined || !first.startsWith(MARK)) continue;
    const reason = [first.slice(MARK.length)];
    for (let more; (more = COMMENT.exec(lines[i + 1] ?? "")) !== null; i++) reason.push(more[1]);
    found.push({ line: i + 2, reason: reason.join(" ") });
  }
  return found;
}

/**
 * Divides the points of a file that are not reached.
 * @param {Point[]} points those of the file
 * @param {(point: Point) => boolean} isReached
 * @param {Explanation[]} explanations those of the file
 * @returns {{ explained: { reason: string, points: Point[] }[], unexplained: Point[], stale: Explanation[] }} `stale`: what
 * they are about is reached
 */
export function divide(points, isReached, explanations) {
  const missed = new Set(points.filter((point) => !isReached(point)));
  const explained = [];
  const stale = [];
  for (const one of explanations) {
    const here = [...missed].filter(({ line }) => line === one.line);
    const last = Math.max(...here.map((point) => point.last));
    const about = [...missed].filter(({ line }) => line >= one.line && line <= last);
    for (const point of about) missed.delete(point);
    if (about.length === 0) stale.push(one);
    else explained.push({ ...one, points: about });
  }
  return { explained, unexplained: [...missed], stale };
}
