import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { parseListenAddress, parseSocketPath } from '../../schema/format.ts';
import type { Config } from '../root.ts';
import { requireTexts, type Refuse, type Rule } from '../rule.ts';

const secretsRule: Rule = ({ server, sessions, totp }, refuse) => {
  if (server.dev) return;
  const { signingkey, encryptionkey } = sessions;
  const why = 'server.dev is off';
  requireTexts(refuse, why, 'sessions', { signingkey, encryptionkey }, ['server.dev']);
  if (totp.enabled) requireTexts(refuse, why, 'totp', { secret: totp.secret }, ['server.dev', 'totp.enabled']);
};

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/iu;

const authenticationRule: Rule = ({ auth, server }, refuse) => {
  if (auth.enabled || server.dev || parseSocketPath(server.listen) !== undefined) return;
  if (loopback.test(parseListenAddress(server.listen)?.host ?? '')) return;
  refuse(
    'auth.enabled',
    `is off, but server.listen (${server.listen}) can be reached from other machines and server.dev is off`,
    'turn it on, or listen on a loopback address such as 127.0.0.1:17608',
    ['server.listen', 'server.dev'],
  );
};

const durationRule: Rule = ({ auth: { token } }, refuse) => {
  if (token.refreshduration <= token.accessduration) {
    refuse(
      'auth.token.refreshduration',
      `is not longer than auth.token.accessduration (${token.accessduration} milliseconds)`,
      'make it longer',
      ['auth.token.accessduration'],
    );
  }
  if (-token.refreshoverlap >= token.accessduration) {
    refuse(
      'auth.token.refreshoverlap',
      `reaches back further than the lifetime of the access token (auth.token.accessduration is ${token.accessduration} milliseconds)`,
      'use a value closer to 0',
      ['auth.token.accessduration'],
    );
  }
};

const signingKeyRule: Rule = ({ auth: { token }, keywatcher, server }, refuse) => {
  const ids = Object.keys(token.keys);
  if (ids.length === 0) {
    if (token.generatekeys || keywatcher.enabled || server.secretmanager !== '') return;
    const also = ['auth.token.generatekeys', 'keywatcher.enabled', 'server.secretmanager'];
    refuse(
      'auth.token.keys',
      'is empty and no other source provides a signing key',
      'add a key, or turn on auth.token.generatekeys or keywatcher.enabled',
      also,
    );
    return;
  }
  if (keywatcher.enabled || server.secretmanager !== '' || token.kid === '' || Object.hasOwn(token.keys, token.kid))
    return;
  const near = didYouMean(token.kid, ids);
  refuse(
    'auth.token.kid',
    'is not the id of a key in auth.token.keys',
    near === undefined ? `write one of ${ids.join(', ')}` : `did you mean ${near}?`,
    ['auth.token.keys'],
  );
};

const tokenCacheRule: Rule = ({ auth, cache }, refuse) => {
  const { enabled, config } = auth.token.cache;
  if (!enabled || config.enabled || cache.enabled) return;
  refuse(
    'auth.token.cache.enabled',
    'is on, but there is no cache connection',
    'turn on auth.token.cache.config.enabled or cache.enabled, and set its address',
    ['auth.token.cache.config.enabled', 'cache.enabled'],
  );
};

const apiTokenRule: Rule = (
  {
    auth: {
      token: { apitokens },
    },
  },
  refuse,
) => {
  const keys = Object.values(apitokens.keys);
  if (!apitokens.enabled && keys.length === 0) return;
  const active = keys.filter((key) => key.status === 'active').length;
  if (active === 1) return;
  const reason = active === 0 ? 'has no active key' : `has ${active} active keys`;
  refuse(
    'auth.token.apitokens.keys',
    `${reason}, but exactly one must be active`,
    'set the others to deprecated or revoked, or add one',
    ['auth.token.apitokens.enabled'],
  );
};

function requireOauth(name: 'codehost' | 'identity', { auth: { providers } }: Config, refuse: Refuse): void {
  const { clientid, clientsecret, redirecturl } = providers[name];
  const base = `auth.providers.${name}`;
  const why = `${name} is in auth.supportedproviders`;
  const also = ['auth.supportedproviders'];
  requireTexts(refuse, why, base, { clientid, clientsecret, redirecturl }, also);
}

const providerRule: Rule = (config, refuse) => {
  const { supportedproviders, providers } = config.auth;
  const also = ['auth.supportedproviders'];
  const oauth = (['codehost', 'identity'] as const).filter((name) => supportedproviders.includes(name));
  for (const name of oauth) requireOauth(name, config, refuse);
  const { webauthn } = providers;
  if (!webauthn.enabled && !supportedproviders.includes('webauthn')) return;
  const { displayname, relyingpartyid } = webauthn;
  const webauthnAlso = [...also, 'auth.providers.webauthn.enabled'];
  requireTexts(refuse, 'passkeys are on', 'auth.providers.webauthn', { displayname, relyingpartyid }, webauthnAlso);
  if (webauthn.requestorigins.length === 0) {
    refuse(
      'auth.providers.webauthn.requestorigins',
      'is empty, but passkeys are on',
      'name the origins of the pages that ask for passkeys, or set domain',
      webauthnAlso,
    );
  }
  if (webauthn.requestorigins.includes('*')) {
    refuse(
      'auth.providers.webauthn.requestorigins',
      'has *, but a passkey must not be asked for by any page',
      'name the origins of the pages that ask for passkeys',
      webauthnAlso,
    );
  }
};

const supportRule: Rule = ({ auth: { supportaccess } }, refuse) => {
  if (!supportaccess.enabled) return;
  const { email, subjectid, password, clientid, clientsecret, issuerurl, redirecturl, alloweddomain } = supportaccess;
  requireTexts(
    refuse,
    'auth.supportaccess.enabled is on',
    'auth.supportaccess',
    { email, subjectid, password, clientid, clientsecret, issuerurl, redirecturl, alloweddomain },
    ['auth.supportaccess.enabled'],
  );
};

const storeRule: Rule = ({ authz }, refuse) => {
  const { apitoken, clientid, clientsecret, issuer } = authz.credentials;
  if (apitoken !== '' && clientid !== '') {
    refuse('authz.credentials.clientid', 'is set, and so is authz.credentials.apitoken', 'set only one of them', []);
  } else if (clientid !== '' || clientsecret !== '') {
    requireTexts(refuse, 'client credentials are used', 'authz.credentials', { clientid, clientsecret, issuer });
  }
  if (authz.modelfile !== '' && authz.modulefile !== '') {
    refuse('authz.modulefile', 'is set, and so is authz.modelfile', 'set only one of them', []);
  }
  const kinds = authz.parentcontextconditions.map(({ kind }) => kind);
  const repeated = kinds.filter((kind, index) => kinds.indexOf(kind) !== index);
  if (repeated.length > 0) {
    const reason = `has several conditions for ${[...new Set(repeated)].join(', ')}`;
    refuse('authz.parentcontextconditions', reason, 'combine them into one condition', []);
  }
};

/** Requirements between fields of `auth`, `authz` and the secrets of production. */
export const authRules: readonly Rule[] = [
  secretsRule,
  authenticationRule,
  durationRule,
  signingKeyRule,
  tokenCacheRule,
  apiTokenRule,
  providerRule,
  supportRule,
  storeRule,
];
