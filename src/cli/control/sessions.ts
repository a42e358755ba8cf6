/** The sessions of the control: each connection is one, as each process of C is. */
import type { LoadedScenario } from "../../scenario/index.js";
import { Session, type SessionSum, type Shared } from "./facade.js";

export class Sessions implements Shared {
  readonly loaded: LoadedScenario;
  readonly exported: Readonly<Record<string, unknown>>;
  readonly #open = new Set<Session>();
  #last = 0;

  private constructor(loaded: LoadedScenario, exported: Readonly<Record<string, unknown>>) {
    this.loaded = loaded;
    this.exported = exported;
  }

  /** Loads the modules with C names. */
  static async open(loaded: LoadedScenario): Promise<Sessions> {
    const [verbs, mlx5dv] = await Promise.all([import("../../verbs/index.js"), import("../../mlx5dv/index.js")]);
    return new Sessions(loaded, { ...verbs, ...mlx5dv });
  }

  begin(): Session {
    const session = new Session(this, ++this.#last);
    this.#open.add(session);
    return session;
  }

  end(session: Session): void {
    this.#open.delete(session);
    session.end();
  }

  get memory(): number {
    return [...this.#open].reduce((sum, { memory }) => sum + memory, 0);
  }

  sums(): SessionSum[] {
    return [...this.#open].map((session) => session.sum());
  }

  guarded<T>(session: Session, run: () => T): T {
    const others = [...this.#open].filter((one) => one !== session);
    return others.reduce((inner: () => T, other) => () => other.guarded(inner), run)();
  }
}
