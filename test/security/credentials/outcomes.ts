/**
 * What each credential opens. A cell is `yes` for a response with a status below 300, else the error code. The columns stand for all
 * endpoints of their class; `credentials.test.ts` sends one request for each cell.
 */
export const endpoints = [
  'anybody',
  'reads records',
  'changes records',
  'GraphQL reads',
  'GraphQL changes',
  'own account',
  'own sessions',
  'gives tokens',
  'refreshes',
] as const;

export type Endpoint = (typeof endpoints)[number];

const opens = (
  ...outcomes: readonly [string, string, string, string, string, string, string, string, string]
): Readonly<Record<Endpoint, string>> =>
  Object.fromEntries(endpoints.map((endpoint, index) => [endpoint, outcomes[index]])) as Record<Endpoint, string>;

const unknown = 'unauthenticated';
const denied = 'permission_denied';

/** No credential of its own: nobody. */
const nobody = opens('yes', unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown);

// prettier-ignore
export const outcomes = {
  //                                             anybody  reads    changes  GraphQL  changes  account  sessions tokens   refreshes
  'none':                                  nobody,
  'access token':                          opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   unknown),
  'cookies of a session':                  opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes'),
  'access cookie alone':                   nobody,
  'session cookie alone':                  nobody,
  'refresh token as bearer':               nobody,
  'refresh cookie alone':                  opens('yes',   unknown, unknown, unknown, unknown, unknown, unknown, unknown, 'yes'),
  'API token that reads tasks':            opens('yes',   'yes',   denied,  'yes',   denied,  denied,  denied,  denied,  unknown),
  'API token that changes tasks':          opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  unknown),
  'personal token that reads tasks':       opens('yes',   'yes',   denied,  'yes',   denied,  denied,  denied,  denied,  unknown),
  'personal token that changes tasks':     opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  unknown),
  'deleted API token':                     nobody,
  'access token of a session that ended':  nobody,
  'expired access token':                  nobody,
  'access token of a deactivated person':  nobody,
  // Their session goes on, in no organization: lists are empty, and nothing can be created.
  'access token of somebody who left':     opens('yes',   'yes',   denied,  'yes',   denied,  'yes',   'yes',   'yes',   unknown),
  'support access':                        opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  unknown),
  'support access without consent':        nobody,
  'support access in a cookie':            nobody,
  'first factor of support access':        nobody,
  'impersonation of a member':             opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  unknown),
  'impersonation that was ended':          nobody,
  'token of an assessment':                nobody,
  'token of an NDA request':               nobody,
  // It counts in the organization alone, and gives no token that counts elsewhere.
  'session of single sign-on':             opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   denied,  'yes'),
  'session of a deleted single sign-on':   nobody,
  'challenge of a sign-in that needs a code': nobody,
  'token of a confirmation link':          nobody,
  'token of a password link':              nobody,
  // Endpoints without a query refuse the parameter by its name.
  'token in the query string':             opens('yes',   unknown, unknown, unknown, unknown, unknown, 'invalid_input', unknown, unknown),
} satisfies Readonly<Record<string, Readonly<Record<Endpoint, string>>>>;

export type Credential = keyof typeof outcomes;
