import type { ClientError } from '../core/errors.ts';

/** Returns the text of a refusal: what is wrong, and a way on. A model sees this text alone, without header fields. */
export function textForModel({ message, hint }: ClientError): string {
  return hint ? `${message}. ${hint}` : message;
}
