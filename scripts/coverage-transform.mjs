/**
 * Statement coverage of the core. Three parts that share one numbering:
 *
 * - the compiler's transform (default export) puts `hit(n)` before statement n and writes down where it stands;
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
    const { Node, NodeKind, SourceKind } = await import("assemblyscript");
    const statements = [];

    const hit = (statement) => {
      const { range } = statement;
      const { source } = range;
      const line = source.lineAt(range.start);
      statements.push({ file: source.normalizedPath, line, column: source.columnAt() });
      const callee = Node.createIdentifierExpression("__coverageHit", range);
      const number = Node.createIntegerLiteralExpression(globalThis.i64_new(statements.length - 1, 0), range);
      return Node.createExpressionStatement(Node.createCallExpression(callee, null, [number], range));
    };
    const counted = (list) => {
      const result = list.flatMap((one) => (one.kind === NodeKind.Empty ? [one] : [hit(one), walk(one)]));
      list.splice(0, list.length, ...result);
    };
    const block = (one) => {
      if (one === null || one.kind === NodeKind.Block) return one && walk(one);
      const list = [one];
      counted(list);
      return Node.createBlockStatement(list, one.range);
    };
    const walk = (one) => {
      if (one.kind === NodeKind.Block) counted(one.statements);
      else if (one.kind === NodeKind.If) {
        one.ifTrue = block(one.ifTrue);
        one.ifFalse = block(one.ifFalse);
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
    await this.writeFile("build/coverage/statements.json", JSON.stringify(statements), this.baseDir);
  }
}

/** Counts in this process what instances execute, until the test file ends. */
async function collect() {
  const { afterAll } = await import("vitest");
  const counts = new Uint32Array(JSON.parse(readFileSync(`${built}statements.json`, "utf8")).length);
  const end = tellHits((statement) => void counts[statement]++);
  afterAll(() => {
    end();
    mkdirSync(hitsFolder, { recursive: true });
    writeFileSync(`${hitsFolder}${crypto.randomUUID()}.json`, JSON.stringify([...counts]));
  });
}

function report() {
  const statements = JSON.parse(readFileSync(`${built}statements.json`, "utf8"));
  const counts = statements.map(() => 0);
  for (const name of readdirSync(hitsFolder)) {
    JSON.parse(readFileSync(hitsFolder + name, "utf8")).forEach((count, i) => (counts[i] += count));
  }
  const files = new Map();
  statements.forEach(({ file, line }, i) => {
    if (!files.has(file)) files.set(file, { all: 0, hit: 0, missed: new Set() });
    const one = files.get(file);
    one.all++;
    if (counts[i] > 0) one.hit++;
    else one.missed.add(line);
  });
  const share = (hit, all) => `${((100 * hit) / all).toFixed(1).padStart(5)} % of ${String(all).padStart(5)}`;
  console.log("\nStatements of the core");
  for (const [file, { all, hit, missed }] of [...files].sort()) {
    console.log(`${share(hit, all)}  ${file}${missed.size > 0 ? `  not reached: ${[...missed].join(" ")}` : ""}`);
  }
  console.log(`${share(counts.filter((count) => count > 0).length, statements.length)}  together`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  rmSync(hitsFolder, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", "node", "--coverage"],
    { stdio: "inherit", env: { ...process.env, FLOWSTEER_CORE: "coverage" } },
  );
  report();
  process.exitCode = status ?? 1;
} else if (process.env.VITEST && process.env.FLOWSTEER_CORE === "coverage") {
  await collect();
}
