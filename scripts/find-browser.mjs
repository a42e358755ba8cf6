/**
 * The browser that the tests run in: `$CHROME_PATH`, the Chrome or Chromium of the system, or the one that the
 * package @sparticuz/chromium carries (Linux x64, glibc 2.34 or newer), which is unpacked once.
 *
 * `FLOWSTEER_BROWSER=package` passes over the first two, `FLOWSTEER_BROWSER=none` over all.
 * `node scripts/find-browser.mjs` says what would be used.
 */
import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const CACHE = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));

/**
 * Where the browser is, and the environment variables that it needs besides ours.
 *
 * @param {string} cache the folder that the packaged browser is unpacked in
 * @returns {Promise<{ path: string, env: Record<string, string>, origin: string } | undefined>}
 */
export async function findBrowser(cache = CACHE) {
  const wish = process.env.FLOWSTEER_BROWSER;
  if (wish === "none") return undefined;
  if (wish !== "package") {
    const given = process.env.CHROME_PATH;
    if (given) {
      if (!isProgram(given)) throw new Error(`CHROME_PATH is ${given}, which cannot be run`);
      return { path: given, env: {}, origin: "CHROME_PATH" };
    }
    const installed = systemBrowser();
    if (installed !== undefined) return { path: installed, env: {}, origin: "system" };
  }
  return packagedBrowser(cache);
}

/**
 * What `chromium.launch` of Playwright needs to start the browser, in a container too: those have no sandbox, and
 * 64 MB of /dev/shm, which a page may exceed.
 */
export function launchOptions({ path, env }) {
  return {
    executablePath: path,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    env: { ...process.env, ...env },
  };
}

function systemBrowser() {
  const names = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome"];
  const places = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = names.flatMap((name) => places.map((folder) => join(folder, name)));
  if (process.platform === "darwin") {
    candidates.push(
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
      "/Applications/Chromium.app/Contents/MacOS/Chromium",
    );
  }
  if (process.platform === "win32") {
    for (const variable of ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"]) {
      const folder = process.env[variable];
      if (folder) candidates.push(join(folder, "Google", "Chrome", "Application", "chrome.exe"));
    }
  }
  return candidates.find(isProgram);
}

/** Unpacks the browser of the package and the libraries that come with it. Only the browser is given its variables. */
async function packagedBrowser(cache) {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const manifest = new URL("../node_modules/@sparticuz/chromium/package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const home = join(cache, `browser-${version}`);
  if (!isProgram(join(home, "chromium"))) await unpack(home);
  const fonts = writeFontSettings(home);
  const libraries = [join(home, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
  return {
    path: join(home, "chromium"),
    // Without a locale its language is "en-US@posix", which Intl refuses.
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fonts, LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" },
    origin: `@sparticuz/chromium ${version}`,
  };
}

/**
 * Only a whole browser gets the name `home`, and it keeps it: other processes may run it already. The package reads from
 * the environment where to write, and unpacks its libraries only where it believes it is in a Lambda function: it runs
 * in a process of its own, so that no variable of this one changes.
 */
async function unpack(home) {
  mkdirSync(dirname(home), { recursive: true });
  const folder = mkdtempSync(`${home}.`);
  const code = 'const { default: chromium } = await import("@sparticuz/chromium"); await chromium.executablePath();';
  try {
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: { ...process.env, NODE_OPTIONS: "", AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x", TMPDIR: folder },
    });
    if (!isProgram(join(folder, "chromium"))) throw new Error(`${folder} has no browser after unpacking`);
    renameSync(folder, home);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    // Another process was faster.
    if (!isProgram(join(home, "chromium"))) throw error;
  }
}

/**
 * The package's own settings look for fonts where a Lambda function has them, so a page would have no
 * text. @returns the path of settings that name the unpacked fonts and those of the system
 */
function writeFontSettings(home) {
  const path = join(home, "fonts.conf");
  const folders = [join(home, "fonts", "fonts"), "/usr/share/fonts", "/usr/local/share/fonts"];
  const text = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((folder) => `  <dir>${folder}</dir>`).join("\n")}
  <cachedir>${join(home, "fonts-cache")}</cachedir>
</fontconfig>
`;
  if (existsSync(path) && readFileSync(path, "utf8") === text) return path;
  // A browser that starts reads no half of it.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, text);
  renameSync(written, path);
  return path;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await findBrowser();
  if (found === undefined) {
    console.error("no browser");
    process.exitCode = 1;
  } else console.log(`${found.path} (${found.origin})`);
}
