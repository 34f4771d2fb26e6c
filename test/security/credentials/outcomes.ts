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
  'sets up factors',
  'acts as others',
  'operates the installation',
  'manages single sign-on',
  'refreshes',
] as const;

export type Endpoint = (typeof endpoints)[number];

/** One outcome for each endpoint. */
type Row<T extends readonly unknown[] = typeof endpoints> = { [Index in keyof T]: string };

const opens = (...outcomes: Row): Readonly<Record<Endpoint, string>> =>
  Object.fromEntries(endpoints.map((endpoint, index) => [endpoint, outcomes[index]])) as Record<Endpoint, string>;

const unknown = 'unauthenticated';
const denied = 'permission_denied';
/** No proof of the last ten minutes who they are. */
const stale = 'step_up_required';
const factor = 'second_factor_required';
const nowhere = 'no_current_organization';

/** No credential of its own: nobody. */
const nobody = opens(
  'yes',
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
);

// prettier-ignore
export const outcomes = {
  //                                             anybody  reads    changes  GraphQL  changes  account  sessions tokens   factors  others   operates sign-on  refreshes
  'none':                                  nobody,
  'access token':                          opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   stale,   stale,   stale,   factor,  stale,   unknown),
  'cookies of a session':                  opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   factor,  'yes',   'yes'),
  'access cookie alone':                   nobody,
  'session cookie alone':                  nobody,
  'refresh token as bearer':               nobody,
  'CSRF token as bearer':                  nobody,
  'mark of a known device as bearer':      nobody,
  'refresh cookie alone':                  opens('yes',   unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, 'yes'),
  'API token that reads tasks':            opens('yes',   'yes',   denied,  'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'API token that changes tasks':          opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'personal token that reads tasks':       opens('yes',   'yes',   denied,  'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'personal token that changes tasks':     opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'personal token without the authorization that single sign-on asks for': nobody,
  'personal token with this authorization': opens('yes',  'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'deleted API token':                     nobody,
  'expired API token':                     nobody,
  'expired personal token':                nobody,
  'API token of a revoked key':            nobody,
  'access token of a session that ended':  nobody,
  'expired access token':                  nobody,
  'access token of a deactivated person':  nobody,
  // Their session goes on, in no organization: nothing there can be read or created.
  'access token of somebody who left':     opens('yes',   nowhere, nowhere, nowhere, nowhere, 'yes',   'yes',   stale,   stale,   denied,  denied,  denied,  unknown),
  // The same until they come with single sign-on.
  'session of a member where single sign-on is enforced': opens('yes', nowhere, nowhere, nowhere, nowhere, 'yes', 'yes', 'yes', 'yes', denied, denied, denied, 'single_sign_on_required'),
  // What concerns the person alone goes on, so that they can set a factor up.
  'session without the factor that the organization requires': opens('yes', factor, factor, factor, factor, 'yes', 'yes', factor, 'yes', factor, factor, factor, factor),
  'support access':                        opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'support access without consent':        nobody,
  'support access in a cookie':            nobody,
  'first factor of support access':        nobody,
  'impersonation of a member':             opens('yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  denied,  denied,  denied,  unknown),
  'impersonation that was ended':          nobody,
  'token of an assessment':                nobody,
  'token of an NDA request':               nobody,
  // It counts in the organization alone, gives no token that counts elsewhere, and proves nothing about the account.
  // The member whom the request names belongs to another organization.
  'session of single sign-on':             opens('yes',   'yes',   'yes',   'yes',   'yes',   'yes',   'yes',   denied,  denied,  denied,  denied,  'yes',   'yes'),
  'session of a deleted single sign-on':   nobody,
  'challenge of a sign-in that needs a code': nobody,
  'token of a confirmation link':          nobody,
  'token of a password link':              nobody,
  'token of an invitation':                nobody,
  'token of a subscriber':                 nobody,
  'token of a link that changes the address': nobody,
  'token of a reactivation link':          nobody,
  'token of a link to the webhook portal': nobody,
  // Endpoints without a query refuse the parameter by its name.
  'token in the query string':             opens('yes', unknown, unknown, unknown, unknown, unknown, 'invalid_input', unknown, unknown, unknown, unknown, unknown, unknown),
} satisfies Readonly<Record<string, Readonly<Record<Endpoint, string>>>>;

export type Credential = keyof typeof outcomes;
