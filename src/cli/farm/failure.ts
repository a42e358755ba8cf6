/** Why a job failed, in words. */
import { ATTEMPTS } from "./farm.js";

export function failureText(text: string): string {
  return `${text} (tried ${ATTEMPTS} times)`;
}
