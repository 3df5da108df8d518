/** Returns 128 random bits in base64url: nobody can guess the id of a session. */
export function newSessionId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
}
