/** Code that needs optional peer dependencies, which a user of the library does not install. */
import { badUsage } from "./refusal.js";

/**
 * Loads code.
 * @param place what needs it, on the command line
 * @param packages with their versions, such as `hyparquet-writer@0.17`
 * @throws CommandRefusal one of the packages is not installed
 */
export async function loadOptional<T>(place: string, packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const isMissing = packages.some((name) => message.includes(`'${name.replace(/@.*/, "")}'`));
    if (code !== "ERR_MODULE_NOT_FOUND" || !isMissing) throw error;
    const what = packages.length === 1 ? "a package that is not installed" : "packages that are not installed";
    throw badUsage(place, `needs ${what}; run npm install ${packages.join(" ")}`);
  }
}
