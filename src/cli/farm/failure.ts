/** Why a job failed, in words. */
import { ATTEMPTS } from "./farm.js";

/** How BullMQ tells of a process that ended. */
const ENDED = /Unexpected exit code: (\S+) signal: (\S+)/;

export function failureText(text: string): string {
  const ended = text.replace(ENDED, (_, code: string, signal: string) =>
    signal === "null" ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`,
  );
  return `${ended} (tried ${ATTEMPTS} times)`;
}
