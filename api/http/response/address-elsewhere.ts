/** Names of other products for the lists and calls of this API: the first parts of paths, without `/v1`. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  '/v1/account/userinfo': ['me', 'users/me', 'profile', 'whoami', 'current-user', 'account/me'],
  '/v1/api-tokens': ['api-keys', 'apikeys', 'tokens'],
  '/v1/event-types': ['events'],
  '/v1/groups': ['teams'],
  '/v1/invites': ['invitations'],
  '/v1/login': ['auth/login', 'auth', 'signin', 'sign-in', 'token', 'oauth/token', 'auth/token'],
  '/v1/memberships': ['members'],
  '/v1/notes': ['comments'],
  '/v1/register': ['auth/register', 'auth/signup', 'signup', 'sign-up'],
  '/v1/search': ['search', 'query', 'find'],
  '/v1/task-files': ['attachments'],
  '/v1/task-shares': ['shares'],
  '/v1/webhook-endpoints': ['webhooks', 'hooks'],
  '/livez': ['health', 'healthz', 'status', 'ping'],
  '/docs': ['swagger', 'api-docs', 'redoc'],
  '/openapi.json': ['swagger.json', 'openapi.yaml', 'openapi'],
};

const known: ReadonlyMap<string, string> = new Map(
  Object.entries(elsewhere).flatMap(([path, names]) => names.map((name) => [name, path] as const)),
);

/** Where texts are searched: the rest of a sentence about a parameter of a list that has no search. */
export const searchRemedy = 'these records are not searched; GET /v1/search?query=… searches all kinds that are';

/**
 * Advice for paths that other products have: the end of a sentence. Parts after the first ones of the path, such as an id, are kept.
 * Undefined for other paths.
 * @param isKnown whether this API has an address
 */
export function addressElsewhere(path: string, isKnown: (address: string) => boolean): string | undefined {
  const parts = path.replace(/^(\/api)?(\/v\d+)?\//, '').split('/');
  for (const length of [2, 1]) {
    const meant = known.get(parts.slice(0, length).join('/'));
    if (meant === undefined) continue;
    const address = [meant, ...parts.slice(length)].join('/');
    if (isKnown(address)) return `did you mean ${address}? See /docs`;
  }
  return undefined;
}
