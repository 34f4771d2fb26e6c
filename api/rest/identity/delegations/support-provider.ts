import { hash } from 'node:crypto';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { isSameText } from '#entities/kit/base/secrets/keys.ts';
import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { ProviderSettings } from '../../../auth/sign-in-providers.ts';
import type { Call } from '../../../http/route.ts';

type Settings = Config['auth']['supportaccess'];

/** The settings of support access. @throws AppError not_found while it is off */
export function supportSettings({ services }: Pick<Call<unknown>, 'services'>): Settings {
  const { supportaccess } = services.config.current.auth;
  if (!supportaccess.enabled) throw new AppError('not_found', 'Support access is not available on this server.');
  return supportaccess;
}

/** The provider of the second factor. */
export function supportProvider({ services }: Pick<Call<unknown>, 'services'>, settings: Settings): ProviderSettings {
  const { issuerurl, discoveryendpoint, clientid, clientsecret, redirecturl } = settings;
  return {
    issuer: issuerurl,
    clientId: clientid,
    clientSecret: clientsecret,
    scopes: ['openid', 'email', 'profile'],
    callbackUrl: redirecturl,
    ...(discoveryendpoint === '' ? {} : { discoveryUrl: discoveryendpoint }),
    rules: { isDev: services.config.current.server.dev, allowsPrivate: true },
  };
}

/** Whether this is the first factor. Both values are compared, in constant time, whatever becomes of the other. */
export function isFirstFactor(settings: Settings, email: string, password: string): boolean {
  const isEmail = isSameText(emailForm(email), emailForm(settings.email));
  const isPassword = isSameText(password, settings.password);
  return isEmail && isPassword && settings.password !== '';
}

/** Digest of the credentials that a first factor has proven: the proof is no longer valid when these settings have changed. */
export function settingsDigest({ email, password, clientid, issuerurl, alloweddomain }: Settings): string {
  return hash('sha256', JSON.stringify([email, password, clientid, issuerurl, alloweddomain]), 'base64url');
}
