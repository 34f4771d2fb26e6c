import { emailForm } from '../kit/base/email-address.ts';
import { isSignedBy, sign } from '../kit/base/secrets/keys.ts';

const partsOf = (emailId: string, address: string) => ['address', emailId, emailForm(address)];

/**
 * Form in which the record of an e-mail keeps the address to which it went: enough to recognize the address, and nothing from which it
 * could be read.
 * @param key with which the tokens of mailed links are made
 */
export function addressHashOf(key: Buffer, emailId: string, address: string): string {
  return sign(key, partsOf(emailId, address)).toString('base64url');
}

/** Whether the e-mail went to this address. @param held `addressHash` of its record */
export function isHashOfAddress(key: Buffer, emailId: string, address: string, held: string | null): boolean {
  return held !== null && isSignedBy(key, partsOf(emailId, address), held);
}
