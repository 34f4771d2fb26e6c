import type { Config } from '#config/objects/root.ts';

/**
 * Parts that this configuration turns off, each with the setting that turns it on. `npm start` turns on what needs no account elsewhere.
 */
export function offIn({
  server,
  auth,
  workflows,
  cache,
  ratelimit,
  integrations,
  objectstorage,
  totp,
  subscription,
}: Config): string[] {
  const { apitokens } = auth.token;
  const { chat, codehostapp, directoryservice, officesuite, teamchat } = integrations;
  const parts: readonly (readonly [isOff: boolean, what: string, how: string])[] = [
    [!apitokens.enabled, 'API tokens', 'auth.token.apitokens.enabled'],
    [!server.enablegraphsubscriptions, 'GraphQL subscriptions', 'server.enablegraphsubscriptions'],
    [!workflows.webhookallowprivateaddresses, 'webhooks to this machine', 'workflows.webhookallowprivateaddresses'],
    [!totp.enabled, 'second factors', 'totp.enabled'],
    [
      !auth.providers.webauthn.enabled && !auth.supportedproviders.includes('webauthn'),
      'passkeys',
      'auth.providers.webauthn, with a domain name',
    ],
    [
      auth.supportedproviders.every((name) => name === 'webauthn'),
      'sign-in with providers',
      'auth.providers and auth.supportedproviders, with an account there',
    ],
    [integrations.email.provider === '', 'mails to inboxes', 'integrations.email.provider, with an account there'],
    [objectstorage.devmode, 'object storage', 'objectstorage.providers; files are in the local state folder'],
    [!workflows.enabled, 'workflows of organizations', 'workflows.enabled'],
    [!cache.enabled, 'the cache', 'cache.enabled, which starts Redis'],
    [!subscription.enabled, 'billing', 'subscription.enabled, which starts a fake payment provider'],
    [!integrations.oidclocal.enabled, 'a directory to try', 'integrations.oidclocal.enabled, which starts a provider'],
    [
      [chat.clientid, codehostapp.appid, directoryservice.clientid, officesuite.clientid, teamchat.clientid].every(
        (id) => id === '',
      ),
      'chats, code hosts, directories that are read',
      'integrations.chat, codehostapp, directoryservice, officesuite, teamchat, with an account there',
    ],
    [!ratelimit.enabled, 'rate limits', 'ratelimit.enabled'],
  ];
  return parts.filter(([isOff]) => isOff).map(([, what, how]) => `${what}: ${how}`);
}
