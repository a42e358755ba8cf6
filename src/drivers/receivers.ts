/** Names of the rules that drivers make for frames that no other rule takes. */

/** The name of a rule that a driver makes for frames that no other rule takes. */
export function receiverName(of: string): string {
  return `driver: ${of} receives`;
}

/** Whether a rule has such a name: the driver makes it again, so it is not exported. */
export function isReceiver(name: string | undefined): boolean {
  return name !== undefined && /^driver: .* receives(?: \d+)?$/.test(name);
}
