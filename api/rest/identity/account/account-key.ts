import { hash } from 'node:crypto';

/** The counter of failed sign-ins to the account of an address, whether or not there is one. @param email in lower case */
export function accountKey(email: string): string {
  return `account:${hash('sha256', email)}`;
}
