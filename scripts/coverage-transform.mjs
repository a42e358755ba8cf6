/**
 * Coverage of statements and branches of the core. Three parts that share one numbering of points:
 *
 * - the compiler's transform (default export) puts `hit(n)` before each statement, into each `if` without an else, into
 *   the two sides of `?:` and before the right side of `&&` and `||`, and writes down where point n stands;
 * - as a setup file of the tests, with FLOWSTEER_CORE=coverage, this gives every instance the `hit` that it imports,
 *   and writes the counts of each test file down;
 * - `node scripts/coverage-transform.mjs` runs the Node tests so and reports, together with the coverage of src/.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { tellHits } from "./coverage-hits.mjs";

const built = fileURLToPath(new URL("../build/coverage/", import.meta.url));
const hitsFolder = `${built}hits/`;
const DECLARATION = '@global @external("coverage", "hit") declare function __coverageHit(statement: i32): void;';

export default class CoverageTransform {
  async afterParse(parser) {
    const { Node, NodeKind, SourceKind, Token } = await import("assemblyscript");
    const LOGICAL = [Token.Ampersand_Ampersand, Token.Bar_Bar];
    const points = [];

    const call = ({ range }, kind) => {
      const { source } = range;
      const line = source.lineAt(range.start);
      points.push({ file: source.normalizedPath, line, column: source.columnAt(), kind });
      const callee = Node.createIdentifierExpression("__coverageHit", range);
      const number = Node.createIntegerLiteralExpression(globalThis.i64_new(points.length - 1, 0), range);
      return Node.createCallExpression(callee, null, [number], range);
    };
    const hit = (one, kind) => Node.createExpressionStatement(call(one, kind));
    const reached = (expression) =>
      Node.createCommaExpression([call(expression, "branch"), expression], expression.range);
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
    const counted = (list) => {
      const result = list.flatMap((one) => (one.kind === NodeKind.Empty ? [one] : [hit(one, "statement"), walk(one)]));
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

/** Counts in this process what instances execute, until the test file ends. */
async function collect() {
  const { afterAll } = await import("vitest");
  const counts = new Uint32Array(JSON.parse(readFileSync(`${built}points.json`, "utf8")).length);
  const end = tellHits((statement) => void counts[statement]++);
  afterAll(() => {
    end();
    mkdirSync(hitsFolder, { recursive: true });
    writeFileSync(`${hitsFolder}${crypto.randomUUID()}.json`, JSON.stringify([...counts]));
  });
}

/** The points that the compiled core has. */
async function compiledPoints() {
  const { default: binaryen } = await import("assemblyscript/binaryen");
  const text = binaryen.readBinary(readFileSync(`${built}core.wasm`)).emitText();
  const [, hit] = /\(import "coverage" "hit" \(func (\S+)/.exec(text);
  const calls = text.split(`(call ${hit}`).slice(1);
  return new Set(calls.map((call) => Number(/i32\.const (\d+)/.exec(call)[1])));
}

/** Points in code that this flavour leaves out, such as the traced core's, are not counted. */
async function report() {
  const compiled = await compiledPoints();
  const points = JSON.parse(readFileSync(`${built}points.json`, "utf8"));
  const counts = points.map(() => 0);
  for (const name of readdirSync(hitsFolder)) {
    JSON.parse(readFileSync(hitsFolder + name, "utf8")).forEach((count, i) => (counts[i] += count));
  }
  for (const kind of ["statement", "branch"]) {
    const files = new Map();
    points.forEach(({ file, line, column, kind: is }, i) => {
      if (is !== kind || !compiled.has(i)) return;
      if (!files.has(file)) files.set(file, { all: 0, hit: 0, missed: new Set() });
      const one = files.get(file);
      one.all++;
      if (counts[i] > 0) one.hit++;
      else one.missed.add(kind === "branch" ? `${line}:${column}` : `${line}`);
    });
    const share = (hit, all) => `${((100 * hit) / all).toFixed(1).padStart(5)} % of ${String(all).padStart(5)}`;
    console.log(`\n${kind === "branch" ? "Branches" : "Statements"} of the core`);
    for (const [file, { all, hit, missed }] of [...files].sort()) {
      console.log(`${share(hit, all)}  ${file}${missed.size > 0 ? `  not reached: ${[...missed].join(" ")}` : ""}`);
    }
    const sum = (key) => [...files.values()].reduce((n, one) => n + one[key], 0);
    console.log(`${share(sum("hit"), sum("all"))}  together`);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  rmSync(hitsFolder, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", "node", "--coverage"],
    { stdio: "inherit", env: { ...process.env, FLOWSTEER_CORE: "coverage" } },
  );
  await report();
  process.exitCode = status ?? 1;
} else if (process.env.VITEST_WORKER_ID !== undefined && process.env.FLOWSTEER_CORE === "coverage") {
  await collect();
}
