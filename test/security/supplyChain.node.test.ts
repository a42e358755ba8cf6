/** What is installed with the package and for its tests, and that the shipped core is made of the sources beside it. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/root.js";
import { DEEP } from "../support/tier.js";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const REGISTRY = "https://registry.npmjs.org/";
/** Packages whose install script may run, and why. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  "node_modules/esbuild": "checks that the program of this platform, a package of its own, is there",
  "node_modules/msgpackr-extract":
    "takes the addon of this platform, or makes one; optional, below bullmq, which is one too",
};

const read = <T>(name: string): T => JSON.parse(readFileSync(join(ROOT, name), "utf8")) as T;

describe("the lock file", () => {
  const { packages } = read<{ packages: Record<string, Locked> }>("package-lock.json");
  const locked = Object.entries(packages).filter(([name, { link }]) => name !== "" && link !== true);

  test("has a version and a SHA-512 of every package, and no place but the registry", () => {
    expect(locked.length).toBeGreaterThan(100);
    for (const [name, { version, integrity, resolved }] of locked) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+/);
      expect(integrity, name).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
      if (resolved !== undefined) expect(resolved.startsWith(REGISTRY), `${name}: ${resolved}`).toBe(true);
    }
  });

  test("has no package with an install script but those that are listed", () => {
    const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([name]) => name);
    expect(scripts).toEqual(Object.keys(INSTALL_SCRIPTS));
  });
});

test("the package runs nothing when it is installed, and brings one dependency", () => {
  const { scripts, dependencies } = read<{
    scripts: Record<string, string>;
    dependencies: Record<string, string>;
  }>("package.json");
  for (const name of ["preinstall", "install", "postinstall"]) expect(scripts[name]).toBeUndefined();
  expect(Object.keys(dependencies)).toEqual(["@assemblyscript/loader"]);
});

test.runIf(DEEP)("the core is built again from a copy of its sources, byte for byte", () => {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-rebuild-"));
  try {
    for (const name of ["assembly", "scripts", "src/abi", "src/base", "src/engine", "asconfig.json", "package.json"]) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    execFileSync(process.execPath, ["scripts/build.mjs", "--wasm", "release,traced"], { cwd: folder, stdio: "pipe" });
    for (const flavour of ["release", "traced"]) {
      const [ours, again] = [ROOT, folder].map((place) => readFileSync(join(place, `build/${flavour}/core.wasm`)));
      expect(Buffer.compare(ours!, again!), flavour).toBe(0);
    }
    const shipped = readFileSync(join(ROOT, "dist/core.wasm"));
    expect(Buffer.compare(shipped, readFileSync(join(folder, "build/release/core.wasm")))).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
