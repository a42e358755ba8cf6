/** The cores of devices: a page has them beside its scripts, a test brings them from elsewhere. */
import type { CoreSource } from "flowsteer";

export interface Cores {
  /** Explains frames, and steers those of documents. */
  readonly traced: CoreSource;
  /** Steers captures, at several times the speed of the traced core. */
  readonly release: CoreSource;
}
