/** The licences of the packages whose code is in the bundles. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package without a licence file, and one of the same owner with the same licence, which has it. */
const SAME_LICENCE = {
  "@assemblyscript/loader": "node_modules/assemblyscript",
  "@vscode/l10n": "node_modules/vscode-json-languageservice",
};

/**
 * @param root the folder with node_modules
 * @param metafiles what esbuild says of its bundles
 * @returns the text of THIRD-PARTY-NOTICES.txt
 */
export function noticesOf(root, metafiles) {
  const folders = new Set(metafiles.flatMap(packagesIn));
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const from = join(root, SAME_LICENCE[name] ?? folder);
    const texts = [/^(licen[cs]e|copying)(\.(md|txt))?$/i, /^notice(\.(md|txt))?$/i].flatMap((one) =>
      fileOf(from, one),
    );
    if (texts.length === 0) throw new Error(`${folder} has no licence file: the playground may not contain it`);
    return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join("\n\n")}\n`;
  });
  const head = "The playground of flowsteer contains these packages.\n";
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

/** The folders of packages whose code is in the outputs. */
function packagesIn({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
      const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
      return folder === undefined || bytesInOutput === 0 ? [] : [folder];
    }),
  );
}

function fileOf(folder, pattern) {
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .slice(0, 1)
    .map((name) => readFileSync(join(folder, name), "utf8"));
}
