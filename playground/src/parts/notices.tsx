/** The notices, each with its buttons. */
import type { JSX } from "preact";
import { dismiss, notices } from "../state/notices.js";

export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, actions = [] }) => (
        <div class="notice" key={id}>
          <p>{text}</p>
          {actions.map(({ title, run }) => (
            <button
              key={title}
              type="button"
              onClick={() => {
                dismiss(id);
                run();
              }}
            >
              {title}
            </button>
          ))}
          <button type="button" class="quiet" onClick={() => dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  );
}
