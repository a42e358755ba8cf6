/**
 * Formats the C sources of native/ by .clang-format. --check changes nothing, and fails where a file is
 * not formatted. Without clang-format, nothing is checked, and a sentence says so.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const check = process.argv.includes("--check");
const files = readdirSync("native")
  .filter((name) => /\.[ch]$/.test(name))
  .map((name) => `native/${name}`);
const { error, status } = spawnSync("clang-format", [...(check ? ["--dry-run", "-Werror"] : ["-i"]), ...files], {
  stdio: "inherit",
});
if (error?.code === "ENOENT") console.warn("native/ is not checked: no clang-format (Debian: clang-format)");
else if (error !== undefined) throw error;
process.exitCode = status ?? 0;
