/** Whether processes run, and how long they ran: proc(5), /proc/PID/stat and /proc/PID/task/TID/stat. */
import { readdirSync, readFileSync } from "node:fs";

/** Running, and waiting for a disk. */
const BUSY: ReadonlySet<string> = new Set(["R", "D"]);
/** Fields after the name: the state, and clock ticks in user mode and in the kernel. */
const STATE = 0;
const USER_TICKS = 11;
const KERNEL_TICKS = 12;
/** Milliseconds of a clock tick: USER_HZ is 100 (time(7)). */
const TICK = 10;

/** Whether no thread of a process runs, or it has ended. */
export function isAsleep(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.every((thread) => !BUSY.has(fieldsOf(`/proc/${pid}/task/${thread}/stat`)[STATE] ?? ""));
  } catch {
    return true;
  }
}

/** Milliseconds of processor time that a process has used; 0 where it has ended. */
export function processorTime(pid: number): number {
  try {
    const fields = fieldsOf(`/proc/${pid}/stat`);
    return TICK * (Number(fields[USER_TICKS]) + Number(fields[KERNEL_TICKS]));
  } catch {
    return 0;
  }
}

/** Those after the name of the program, which may hold anything, and stands in parentheses. */
function fieldsOf(path: string): string[] {
  const text = readFileSync(path, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
