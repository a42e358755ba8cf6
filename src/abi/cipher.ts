/**
 * AES-GCM of the core (assembly/crypto): what a packet that is sealed or opened needs. Read by both compilers.
 *
 * A cipher is a key made ready: an address in the core's memory, opaque to everyone but assembly/crypto.
 *
 * A job is one packet; the nonce is 96 bits, as RFC 4106 (3.1) makes it of salt and IV:
 *     | cipher 4 | data 4 | data length 4 | ICV 4 | AAD 4 | AAD length 2 | ICV length 1 | good 1 |
 *     | nonce 12 | 0 4 | scratch 16 | number 8 |
 * Data, ICV and AAD are addresses; data is sealed and opened in place. `seal` writes the ICV, `open` compares it, and says in
 * `good` whether it is right; if not, data is as it was. The scratch bytes are for an AAD that does not lie in the frame as
 * it is hashed (RFC 4106, section 5: with extended sequence numbers). The number is the ESP action's, which the cipher leaves alone.
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
