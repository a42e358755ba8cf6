/** Names of the rules that drivers make, which no text of rules has. */

const MADE = "driver: ";

/** The name of a rule that a driver makes. */
export function madeName(of: string): string {
  return `${MADE}${of}`;
}

/** Whether a driver made a rule of this name. */
export function isMade(name: string | undefined): boolean {
  return name?.startsWith(MADE) === true;
}

/** What a driver's rule is for, by its name. */
export function partOf(name: string): string {
  return name.slice(MADE.length);
}

/** The name of a rule that a driver makes for frames that no other rule takes. */
export function receiverName(of: string): string {
  return madeName(`${of} receives`);
}

/** Whether a driver received a frame because no rule took it, by the names of the rules that the frame hit. */
export function isUnclaimed(names: readonly string[]): boolean {
  const at = names.findIndex(isReceiver);
  const before = names[at - 1];
  return at === 0 || (at > 0 && isMade(before) && !isStep(before));
}

/** Whether a rule carries on a rule of the text (Open vSwitch: src/formats/ovs/read/pipeline). */
function isStep(name: string | undefined): boolean {
  return name?.startsWith(madeName("step ")) === true;
}

/** Whether a rule has such a name: the driver makes it again, so it is not exported. */
export function isReceiver(name: string | undefined): boolean {
  return name !== undefined && /^driver: .* receives(?: \d+)?$/.test(name);
}
