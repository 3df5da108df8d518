/** 128 random bits: no session is found by guessing. */
export function newSessionId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
}
