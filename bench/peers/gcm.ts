/** The interface of a peer of the suite `esp`. */

export interface Sealed {
  data: Uint8Array;
  icv: Uint8Array;
}

export interface GcmPeer {
  readonly name: string;
  seal(nonce: Uint8Array, aad: Uint8Array, data: Uint8Array): Sealed;
  /** Throws if the ICV is wrong. */
  open(nonce: Uint8Array, aad: Uint8Array, sealed: Sealed): Uint8Array;
}
