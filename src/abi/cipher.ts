/**
 * AES-GCM of the core (assembly/crypto): the inputs for sealing or opening a packet. Both compilers
 * read this file.
 * A cipher is a key, which the first packet expands: an address in the core's memory. Only
 * assembly/crypto knows its layout.
 * A job is one packet. The nonce has 96 bits: salt and IV, as in RFC 4106 (3.1):
 *     | cipher 4 | data 4 | data length 4 | ICV 4 | AAD 4 | AAD length 2 | ICV length 1 | good 1 |
 *     | nonce 12 | 0 4 | scratch 16 | number 8 |
 * Data, ICV and AAD are addresses; data is sealed and opened in place. `seal` writes the ICV.
 * `open` compares it and sets `good` to whether it is right; if not, data is unchanged. The scratch
 * bytes hold an AAD that is not in the frame as it is hashed (RFC 4106, section 5: with extended
 * sequence numbers). The number is for the ESP action; the cipher ignores it.
 */
export const JOB_CIPHER = 0;
export const JOB_DATA = 4;
export const JOB_LENGTH = 8;
export const JOB_ICV = 12;
export const JOB_AAD = 16;
export const JOB_AAD_LENGTH = 20;
export const JOB_ICV_LENGTH = 22;
export const JOB_GOOD = 23;
export const JOB_NONCE = 24;
export const JOB_SCRATCH = 40;
export const JOB_NUMBER = 56;
export const JOB_SIZE = 64;
