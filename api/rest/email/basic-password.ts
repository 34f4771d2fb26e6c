import { isSameText } from '#entities/kit/base/secrets/keys.ts';
import type { RawDelivery } from '../webhooks/define-receiver.ts';

/** Whether a request has the password in Basic authentication (RFC 7617), whatever the user name; compared in constant time. */
export function hasBasicPassword({ headers }: RawDelivery, password: string): boolean {
  const [, encoded] =
    /^Basic ([A-Za-z0-9+/=]{1,2000})$/i.exec((headers.authorization as string | undefined) ?? '') ?? [];
  if (encoded === undefined) return false;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const given = credentials.slice(credentials.indexOf(':') + 1);
  return credentials.includes(':') && isSameText(given, password);
}
