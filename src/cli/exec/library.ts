/**
 * Compiles the C library of `flowsteer exec` on first use, against the headers of rdma-core that are installed.
 *
 * The result stays in the user's cache folder, under a hash of all that it is made of:
 *
 *     flowsteer/<hash>/libflowsteer-verbs.so      for LD_PRELOAD
 *
 * Programs that open libibverbs.so.1 by name get it by its own dlopen (native/refused.c).
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { NATIVE, RECORDERS } from "../native.js";
import { writeRefusal } from "../output/output.js";
import { badUsage, type CommandRefusal } from "../refusal.js";
import { printable } from "../text.js";

/** A source file that is generated. */
export interface GeneratedSource {
  /** A file name; files that end with `.c` are compiled, the others are for `#include`. */
  readonly name: string;
  readonly text: string;
}

export interface LibraryOptions {
  readonly generated: readonly GeneratedSource[];
  /** Further flags for the compiler. @default none */
  readonly flags?: readonly string[];
  /** The folder with the C sources. @default that of the package */
  readonly sources?: string;
  /** The variables CC, XDG_CACHE_HOME, PATH. @default process.env */
  readonly env?: NodeJS.ProcessEnv;
  /** Called before the library is compiled. */
  readonly onCompile?: () => void;
}

export interface Library {
  /** The path for LD_PRELOAD. */
  readonly preload: string;
}

const LIBRARY = "libflowsteer-verbs.so";

const PROBE = "#include <infiniband/verbs.h>\n#include <infiniband/mlx5dv.h>\n";
const FLAGS = "-std=gnu11 -O2 -g -fPIC -shared -Wall -Wextra -Werror -fvisibility=hidden -pthread".split(" ");

const NO_COMPILER = packages("build-essential libibverbs-dev", "gcc rdma-core-devel", "gcc rdma-core");
const NO_HEADERS = packages("libibverbs-dev", "rdma-core-devel", "rdma-core");

/** Output of the compiler that is kept, in bytes. */
const MAX_OUTPUT = 1 << 24;

/**
 * Returns the library, compiled if the cache does not have it.
 * @throws CommandRefusal no compiler, no headers, sources that do not compile, a cache folder that cannot be written
 */
export async function openLibrary({
  generated,
  flags = [],
  sources = NATIVE,
  env = process.env,
  onCompile,
}: LibraryOptions): Promise<Library> {
  const compiler = new Compiler(env);
  const own = sourceFiles(sources);
  const [version, headers] = await Promise.all([compiler.version(), compiler.headers()]);
  const parts = [
    env["CC"] ?? "",
    version,
    ...FLAGS,
    ...flags,
    ...[...own, ...generated].flatMap(({ name, text }) => [name, text]),
  ];
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part}\0`);
  for (const header of headers) hash.update(readFileSync(header));
  const cache = cacheFolder(env);
  const entry = join(cache, hash.digest("hex").slice(0, 32));
  const library = { preload: join(entry, LIBRARY) };
  if (existsSync(entry)) return library;
  onCompile?.();
  // Made under another name and renamed: a library in the cache is whole.
  const part = `${entry}.part${randomBytes(4).toString("hex")}`;
  writing(part, () => mkdirSync(part, { recursive: true }));
  try {
    writing(part, () => {
      for (const { name, text } of generated) writeFileSync(join(part, name), text);
    });
    const compiled = [...own.map(({ name }) => join(sources, name)), ...generated.map(({ name }) => join(part, name))];
    await compiler.compile([
      ...FLAGS,
      ...[`-ffile-prefix-map=${part}=${entry}`, `-I${sources}`, `-I${part}`],
      ...compiled.filter((path) => path.endsWith(".c")),
      ...["-o", join(part, LIBRARY), "-ldl", ...flags],
    ]);
    writing(entry, () => renameUnlessThere(part, entry));
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return library;
}

/** The C compiler: `$CC`, which may have options, or `cc`. */
class Compiler {
  readonly #command: string;
  readonly #options: readonly string[];
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv) {
    const [command = "cc", ...options] = (env["CC"] ?? "").split(" ").filter((word) => word !== "");
    this.#command = command;
    this.#options = options;
    this.#env = { ...env, LC_ALL: "C" };
  }

  async version(): Promise<string> {
    return (await this.#run(["--version"])).out;
  }

  /** The paths of all headers that the headers of rdma-core read, and theirs. */
  async headers(): Promise<string[]> {
    const { out, failed } = await this.#run(["-M", "-x", "c", "-"], PROBE);
    if (failed !== null) {
      if (/infiniband\/\w+\.h/.test(failed))
        throw badUsage(null, `infiniband/verbs.h and infiniband/mlx5dv.h are not installed; ${NO_HEADERS}`);
      throw this.#failure(failed, "read infiniband/mlx5dv.h");
    }
    // A make rule: `-: /usr/include/a.h \`, with blanks in names escaped.
    const [, list = ""] = /^[^:]*:([^]*)/.exec(out) ?? [];
    return [...list.matchAll(/(?:\\[ #]|[^\s\\])+/g)]
      .map(([path]) => path.replace(/\\(.)/g, "$1"))
      .filter((path) => path !== "-");
  }

  async compile(args: readonly string[]): Promise<void> {
    const { failed } = await this.#run(args);
    if (failed !== null) throw this.#failure(failed, "compile the library for programs");
  }

  /** The compiler's own messages go to standard error, as they are. */
  #failure(output: string, what: string): CommandRefusal {
    process.stderr.write(`${output.split("\n").map(printable).join("\n")}\n`);
    return badUsage(null, `${this.#command} cannot ${what}: its messages are above`);
  }

  /** `failed` is what the compiler wrote to standard error, null for success. */
  async #run(args: readonly string[], input = ""): Promise<{ out: string; failed: string | null }> {
    const { error, out, err } = await new Promise<{ error: Error | null; out: string; err: string }>((resolve) => {
      const child = execFile(
        this.#command,
        [...this.#options, ...args],
        { env: this.#env, maxBuffer: MAX_OUTPUT },
        (error, out, err) => resolve({ error, out, err }),
      );
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
    if (error === null) return { out, failed: null };
    if (["ENOENT", "EACCES"].includes(String((error as NodeJS.ErrnoException).code)))
      throw badUsage(null, `there is no C compiler ${JSON.stringify(this.#command)}; ${NO_COMPILER}`);
    return { out, failed: err.trim() || error.message };
  }
}

function packages(debian: string, fedora: string, arch: string): string {
  return `install ${debian} (Debian), ${fedora} (Fedora) or ${arch} (Arch)`;
}

/** The sources of the folder, by name. */
function sourceFiles(folder: string): GeneratedSource[] {
  return readdirSync(folder)
    .filter((name) => /\.[ch]$/.test(name) && !RECORDERS.includes(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
}

/** As the XDG Base Directory Specification says: a path that is not absolute is ignored. */
function cacheFolder({ XDG_CACHE_HOME = "", HOME }: NodeJS.ProcessEnv): string {
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME ?? homedir(), ".cache");
  return join(cache, "flowsteer");
}

/** Another process may have made the same library. */
function renameUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

function writing(path: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw writeRefusal(path, error);
  }
}
