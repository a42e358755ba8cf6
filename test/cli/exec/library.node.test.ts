/** The C library of flowsteer exec: compiled once, kept in the cache folder, or refused with what to install. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openLibrary, type LibraryOptions } from "../../../src/cli/exec/library.js";
import { CommandRefusal } from "../../../src/cli/refusal.js";
import { scratch } from "../support/command.js";

const probe = spawnSync("cc", ["-fsyntax-only", "-x", "c", "-"], { input: "#include <infiniband/mlx5dv.h>\n" });
const compiles = probe.status === 0;
if (!compiles) console.warn("libraries are not compiled: no cc, or no infiniband/mlx5dv.h (Debian: libibverbs-dev)");

const SOURCES = {
  "answer.c": `#include "answer.h"\n#include "made.h"\nint flowsteer_answer(void) { return MADE; }\nint hidden(void) { return 1; }\n`,
  "answer.h": '__attribute__((visibility("default"))) int flowsteer_answer(void);\nint hidden(void);\n',
  "flowsteer-record.c": "#error the recorder is a library of its own\n",
  "flowsteer-record-rte.c": "#error the recorder of DPDK is one, too\n",
};
const GENERATED = [{ name: "made.h", text: "#define MADE 42\n" }];

let folders = 0;

/** A folder of sources and an empty cache. */
function surroundings(changed: Record<string, string> = {}): LibraryOptions & { cache: string } {
  const sources = scratch(`native${++folders}`);
  mkdirSync(sources);
  for (const [name, text] of Object.entries({ ...SOURCES, ...changed })) writeFileSync(join(sources, name), text);
  const cache = scratch(`cache${folders}`);
  return { sources, generated: GENERATED, env: { ...process.env, CC: "", XDG_CACHE_HOME: cache }, cache };
}

/** The file of a compiler that is a shell script. */
function compilerOf(script: string): string {
  const path = scratch(`cc${++folders}`, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function refusalOf(options: LibraryOptions): Promise<string> {
  const error: unknown = await openLibrary(options).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(CommandRefusal);
  const { hint } = (error as CommandRefusal).refusal;
  return hint ?? "";
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.runIf(compiles)("with a compiler", () => {
  test("compiles sources and generated text, once", async () => {
    const { cache, ...options } = surroundings();
    const onCompile = vi.fn();
    const library = await openLibrary({ ...options, onCompile });
    expect(await openLibrary({ ...options, onCompile })).toEqual(library);
    expect(onCompile).toHaveBeenCalledTimes(1);
    expect(readdirSync(join(cache, "flowsteer"))).toHaveLength(1);
    const symbols = execFileSync("nm", ["-D", "--defined-only", library.preload], { encoding: "utf8" });
    expect(symbols).toContain("flowsteer_answer");
    expect(symbols).not.toContain("hidden");
  });

  test("two first uses at once make one library", async () => {
    const { cache, ...options } = surroundings();
    const [one, other] = await Promise.all([openLibrary(options), openLibrary(options)]);
    expect(one).toEqual(other);
    expect(readdirSync(join(cache, "flowsteer"))).toHaveLength(1);
  });

  test("a change of sources, generated text or flags makes another", async () => {
    const { cache, ...options } = surroundings();
    const { preload } = await openLibrary(options);
    const others = [
      { ...options, flags: ["-O0"] },
      { ...options, generated: [{ name: "made.h", text: "#define MADE 43\n" }] },
      { ...options, env: { ...options.env, CC: "cc -DOTHER" } },
    ];
    const paths = await Promise.all(others.map(async (one) => (await openLibrary(one)).preload));
    writeFileSync(join(options.sources ?? "", "answer.c"), `${SOURCES["answer.c"]}/* changed */\n`);
    paths.push((await openLibrary(options)).preload);
    expect(new Set([preload, ...paths]).size).toBe(5);
    expect(readdirSync(join(cache, "flowsteer"))).toHaveLength(5);
  });

  test("sources that do not compile: the compiler's messages, and nothing in the cache", async () => {
    const { cache, ...options } = surroundings({ "answer.c": "int wrong(void) { return missing; }\n" });
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await refusalOf(options)).toBe("cc cannot compile the library for programs: its messages are above");
    expect(write.mock.calls.join("")).toMatch(/answer\.c:1:.*error: .*missing/);
    expect(readdirSync(join(cache, "flowsteer"))).toEqual([]);
  });

  test("a cache folder that cannot be written", async () => {
    const { cache, ...options } = surroundings();
    writeFileSync(cache, "");
    expect(await refusalOf(options)).toBe("a part of the path is a file, not a folder");
  });

  test("a relative XDG_CACHE_HOME is ignored", async () => {
    const { cache, ...options } = surroundings();
    const env = { ...options.env, XDG_CACHE_HOME: "relative", HOME: cache };
    const { preload } = await openLibrary({ ...options, env });
    expect(preload.startsWith(join(cache, ".cache/flowsteer/"))).toBe(true);
    expect(readFileSync(preload).subarray(1, 4).toString()).toBe("ELF");
  });
});

test("no compiler: the packages of three systems", async () => {
  const options = surroundings();
  expect(await refusalOf({ ...options, env: { ...options.env, CC: "no-such-cc -O1" } })).toBe(
    'there is no C compiler "no-such-cc"; install build-essential libibverbs-dev (Debian), gcc rdma-core-devel (Fedora) or ' +
      "gcc rdma-core (Arch)",
  );
});

test("no headers: their packages", async () => {
  const CC = compilerOf(
    'case "$1" in --version) echo cc 1;; *) echo "-:1:10: fatal error: infiniband/verbs.h: No such file or directory" >&2; exit 1;; esac',
  );
  const options = surroundings();
  expect(await refusalOf({ ...options, env: { ...options.env, CC } })).toBe(
    "infiniband/verbs.h and infiniband/mlx5dv.h are not installed; install libibverbs-dev (Debian), rdma-core-devel " +
      "(Fedora) or rdma-core (Arch)",
  );
});
