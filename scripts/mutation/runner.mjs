/**
 * How vitest runs a test file for mutants of the core. The job (FLOWSTEER_MUTATION, a JSON file) says which of two:
 *
 * - `record`: once, and writes down which mutants each test reaches, and how long it takes;
 * - else: for each mutant that this file may catch, the tests that reach it, up to the first that fails.
 *
 * Test files are imported again for each mutant, so that none finds what another one left. One line of JSON a step goes to
 * `job.output`.
 */
import { startTests } from "@vitest/runner";
import { getTestName } from "@vitest/runner/utils";
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { deflateRawSync } from "node:zlib";
import { TestRunner } from "vitest";
import { useMutants } from "./instances.mjs";

const job = JSON.parse(readFileSync(process.env["FLOWSTEER_MUTATION"], "utf8"));
const core = useMutants(job.wasm);
const write = (line) => appendFileSync(job.output, `${JSON.stringify(line)}\n`);
/** Processor time of this process: other programs do not count. */
const spent = () => {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
};
const fileOf = (path) => relative(process.cwd(), path);

class Recorder extends TestRunner {
  #shared;
  #tests;
  #began;
  #fileBegan;

  onBeforeCollect() {
    core.takeReached();
    core.set();
    this.#shared = new Uint8Array(0);
    this.#tests = [];
    this.#fileBegan = spent();
  }
  onBeforeRunTask(test) {
    this.#share();
    this.#began = spent();
    return super.onBeforeRunTask(test);
  }
  onAfterRunTask(test) {
    const ms = spent() - this.#began;
    const reached = packed(core.takeReached());
    if (test.result?.state === "pass") this.#tests.push({ name: getTestName(test), ms, reached });
    return super.onAfterRunTask(test);
  }
  onAfterRunFiles(files) {
    this.#share();
    const [{ filepath }] = files;
    const turns = String(core.turns());
    write({
      file: fileOf(filepath),
      ms: spent() - this.#fileBegan,
      turns,
      shared: packed(this.#shared),
      tests: this.#tests,
    });
    super.onAfterRunFiles(files);
  }
  /** What runs between tests, hooks and the file itself, is part of each. */
  #share() {
    const bits = core.takeReached();
    this.#shared = bits.map((byte, i) => byte | (this.#shared[i] ?? 0));
  }
}

class Planner extends TestRunner {
  onBeforeRunFiles([file]) {
    file.mode = "skip";
  }
  async onAfterRunFiles(files) {
    const { filepath } = files[0];
    const file = fileOf(filepath);
    const caught = new Set(linesOf(job.output).flatMap(({ caught, mutant }) => (caught === undefined ? [] : [mutant])));
    const { turns, mutants } = job.files[file];
    for (const { mutant, tests } of mutants) {
      if (caught.has(mutant)) continue;
      write({ mutant, begins: file });
      forgetTests(this.workerState.evaluatedModules);
      const began = spent();
      core.set(mutant, BigInt(turns));
      const attempt = new Attempt(this, new Set(tests));
      const [{ result }] = await startTests([{ filepath, testLocations: undefined }], attempt);
      core.set();
      const by = attempt.failed ?? (result?.state === "fail" ? "before its tests" : undefined);
      const ms = spent() - began;
      write(by === undefined ? { mutant, ms, passed: file } : { mutant, ms, caught: `${file}: ${by}` });
    }
    super.onAfterRunFiles(files);
  }
}

/** Some tests of a file, up to the first that fails; tells vitest nothing. */
class Attempt extends TestRunner {
  failed;
  #wanted;

  constructor(parent, wanted) {
    super(parent.config);
    this.#wanted = wanted;
    Object.defineProperty(this, "moduleRunner", { value: parent.moduleRunner });
    this.__setTraces(parent._otel);
  }
  onBeforeRunTask(test) {
    if (this.failed !== undefined || !this.#wanted.has(getTestName(test))) test.mode = "skip";
    return super.onBeforeRunTask(test);
  }
  onAfterRunTask(test) {
    if (test.result?.state === "fail") this.failed ??= getTestName(test);
    return super.onAfterRunTask(test);
  }
}

/** The next import makes the modules of tests anew. Those of src/ keep nothing that a core changes. */
function forgetTests(modules) {
  for (const [path, module] of modules.idToModuleMap) {
    if (!fileOf(path).startsWith("test/")) continue;
    Object.assign(module, { promise: undefined, exports: undefined, evaluated: false });
    module.importers.clear();
  }
}

function linesOf(path) {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function packed(bytes) {
  return deflateRawSync(bytes).toString("base64");
}

export default job.record ? Recorder : Planner;
