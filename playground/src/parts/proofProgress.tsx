/** A proof that takes long, with a button that stops it; or why it ended without an answer, with one that begins it again. */
import type { JSX } from "preact";
import { LIMIT, type ProofTask } from "../state/proofTask.js";

interface Props {
  readonly task: Pick<ProofTask<unknown>, "status" | "stop" | "again">;
  /** What it does: "Comparing". */
  readonly what: string;
}

const ENDS = {
  stopped: "was stopped: nothing is known.",
  late: `took longer than ${LIMIT / 1000} s and was stopped: nothing is known.`,
  failed: "failed: nothing is known.",
} as const;

export function ProofProgressLine({ task, what }: Props): JSX.Element | null {
  const status = task.status.value;
  if (status.kind === "idle") return null;
  if (status.kind !== "running") {
    return (
      <p class="proof-progress">
        <span role="status">{`${what} ${ENDS[status.kind]}`}</span>{" "}
        <button type="button" onClick={() => task.again()}>
          Try again
        </button>
      </p>
    );
  }
  const { done, total } = status;
  return (
    <p class="proof-progress">
      <span>
        {what} <span class="muted">{total > 0 && `${Math.floor((done / total) * 100)} %`}</span>
      </span>{" "}
      <button
        type="button"
        aria-label={`Stop ${what.charAt(0).toLowerCase()}${what.slice(1)}`}
        onClick={() => task.stop()}
      >
        Stop
      </button>
    </p>
  );
}
