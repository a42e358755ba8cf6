/**
 * Runs commands of dist/cli.js one after the other in one process, which loads the bundles once. Each message has the
 * arguments and standard input of a command; the answer has its exit code and outputs.
 */
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";

const cli = new URL("../../../dist/cli.js", import.meta.url);
/** The module that runs a command when it is evaluated. No other module imports it. */
const [, file] = /await import\("(\.\/[^"]+)"\)/.exec(readFileSync(cli, "utf8"));
let commands = 0;

process.on("message", ({ args, stdin }) => void run(args, stdin).then((answer) => process.send(answer)));

async function run(args, stdin) {
  const out = [];
  const err = [];
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = undefined;
  replace("stdin", Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)], { objectMode: false }));
  replace("stdout", collector(out));
  replace("stderr", collector(err));
  await import(new URL(`${file}?${++commands}`, cli));
  return { code: process.exitCode, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}

function collector(chunks) {
  return new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
}

function replace(name, value) {
  Object.defineProperty(process, name, { value, configurable: true });
}
