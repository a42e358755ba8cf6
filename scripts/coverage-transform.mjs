/**
 * Coverage of statements and branches of the core. Two parts that share one numbering of points:
 *
 * - the compiler's transform (default export) puts `hit(n)` before each statement, into each `if` without an else, into
 *   the two sides of `?:` and before the right side of `&&` and `||`, and writes down where point n stands;
 * - as a setup file of the tests, with FLOWSTEER_CORE=coverage, this gives every instance the `hit` that it imports,
 *   and writes down what each process reaches.
 *
 * scripts/coverage.mjs runs the tests so, and reports.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tellHits, tellHitsOfThreads } from "./coverage-hits.mjs";

const built = fileURLToPath(new URL("../build/coverage/", import.meta.url));
const reachedFolder = `${built}reached/`;
const DECLARATION = '@global @external("coverage", "hit") declare function __coverageHit(statement: i32): void;';

export default class CoverageTransform {
  async afterParse(parser) {
    const { Node, NodeKind, SourceKind, Token } = await import("assemblyscript");
    const LOGICAL = [Token.Ampersand_Ampersand, Token.Bar_Bar];
    const points = [];

    /** `last` is the last line of what does not run either if the point is not reached. */
    const call = ({ range }, kind, last) => {
      const line = range.source.lineAt(range.start);
      points.push({
        file: range.source.normalizedPath,
        line,
        column: range.source.columnAt(),
        kind,
        last: last ?? line,
      });
      const callee = Node.createIdentifierExpression("__coverageHit", range);
      const number = Node.createIntegerLiteralExpression(globalThis.i64_new(points.length - 1, 0), range);
      return Node.createCallExpression(callee, null, [number], range);
    };
    const hit = (one, kind, last) => Node.createExpressionStatement(call(one, kind, last));
    const lastLine = ({ range }) => range.source.lineAt(range.end);
    const reached = (one) => Node.createCommaExpression([call(one, "branch", lastLine(one)), one], one.range);
    /** Marks the branches within the expressions of a node. */
    const branches = (node) => {
      for (const [name, value] of Object.entries(node)) {
        if (name === "range") continue;
        for (const one of Array.isArray(value) ? value : [value]) if (isExpression(one ?? undefined)) branches(one);
      }
      if (node.kind === NodeKind.Ternary) {
        node.ifThen = reached(node.ifThen);
        node.ifElse = reached(node.ifElse);
      } else if (node.kind === NodeKind.Binary && LOGICAL.includes(node.operator)) node.right = reached(node.right);
    };
    const isExpression = ({ kind } = {}) =>
      (kind >= NodeKind.Identifier && kind <= NodeKind.UnaryPrefix) || kind === NodeKind.VariableDeclaration;
    /** Counts the statements of a block. */
    const counted = (list) => {
      if (list.length === 0) return;
      const last = lastLine(list.at(-1));
      const result = list.flatMap((one) =>
        one.kind === NodeKind.Empty ? [one] : [hit(one, "statement", last), walk(one)],
      );
      list.splice(0, list.length, ...result);
    };
    const block = (one) => {
      if (one === null || one.kind === NodeKind.Block) return one && walk(one);
      const list = [one];
      counted(list);
      return Node.createBlockStatement(list, one.range);
    };
    const walk = (one) => {
      branches(one);
      if (one.kind === NodeKind.Block) counted(one.statements);
      else if (one.kind === NodeKind.If) {
        one.ifTrue = block(one.ifTrue);
        one.ifFalse = block(one.ifFalse) ?? Node.createBlockStatement([hit(one, "branch")], one.range);
      } else if ([NodeKind.For, NodeKind.ForOf, NodeKind.While, NodeKind.Do].includes(one.kind)) {
        one.body = block(one.body);
      } else if (one.kind === NodeKind.Switch) for (const each of one.cases) counted(each.statements);
      return one;
    };
    const declared = (one) => {
      if (one.kind === NodeKind.FunctionDeclaration || one.kind === NodeKind.MethodDeclaration) {
        if (one.body?.kind === NodeKind.Block) walk(one.body);
      } else if (one.members) one.members.forEach(declared);
    };

    for (const source of parser.sources) {
      const own = source.sourceKind === SourceKind.User || source.sourceKind === SourceKind.UserEntry;
      if (own && source.normalizedPath.startsWith("assembly/")) source.statements.forEach(declared);
    }
    parser.parseFile(DECLARATION, "coverage-hit.ts", false);
    await this.writeFile("build/coverage/points.json", JSON.stringify(points), this.baseDir);
  }
}

/**
 * Notes in this process what instances execute, and writes it down when a test file ends. The files of a process share
 * modules, so an instance that one file made may run in the next.
 */
async function collect() {
  const { afterAll } = await import("vitest");
  const { file, reached } = (globalThis[Symbol.for("flowsteer.coverage")] ??= watched());
  afterAll(() => {
    mkdirSync(reachedFolder, { recursive: true });
    writeFileSync(file, JSON.stringify([...reached]));
  });
}

/** @returns `reached`: 1 for each point that this process reaches, in shared memory */
function watched() {
  const { length } = JSON.parse(readFileSync(`${built}points.json`, "utf8"));
  const reached = new Uint8Array(new SharedArrayBuffer(length));
  tellHits((statement) => void (reached[statement] = 1));
  tellHitsOfThreads(reached);
  return { file: `${reachedFolder}${crypto.randomUUID()}.json`, reached };
}

if (process.env.VITEST_WORKER_ID !== undefined && process.env.FLOWSTEER_CORE === "coverage") await collect();
