import type { WebClient } from '@slack/web-api';
import type { OpeningContext, ProviderContext } from '../definition.ts';
import { libraryFetch, withLibrary } from '../library-fetch.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { remedies } from '../provider-answer.ts';
import { ProviderError, type ProviderErrorCode } from '../provider-error.ts';

const usualUrl = 'https://slack.com';

/** Meaning of the errors of methods, which are answered with status 200. */
const codes: Readonly<Record<string, ProviderErrorCode>> = {
  invalid_auth: 'unauthorized',
  not_authed: 'unauthorized',
  account_inactive: 'unauthorized',
  token_expired: 'unauthorized',
  token_revoked: 'unauthorized',
  invalid_refresh_token: 'unauthorized',
  team_access_not_granted: 'unauthorized',
  missing_scope: 'forbidden',
  not_allowed_token_type: 'forbidden',
  no_permission: 'forbidden',
  access_denied: 'forbidden',
  ekm_access_denied: 'forbidden',
  org_login_required: 'unavailable',
  ratelimited: 'rate_limited',
  rate_limited: 'rate_limited',
  users_not_found: 'not_found',
  invalid_cursor: 'cursor_expired',
  fatal_error: 'unavailable',
  internal_error: 'unavailable',
  request_timeout: 'unavailable',
  service_unavailable: 'unavailable',
  team_added_to_org: 'unavailable',
};

/** Remedies of the errors of messages. */
const channelRemedies: Readonly<Record<string, string>> = {
  channel_not_found: 'The workspace has no such channel, or the app cannot see it. Invite the app to the channel.',
  not_in_channel: 'The app is not in the channel. Invite it to the channel.',
  is_archived: 'The channel is archived. Choose another one.',
  restricted_action: 'The workspace does not let the app send messages to the channel. Ask an administrator of it.',
};

const appRefused =
  'The chat refuses the app of this server. Report it to those who operate the server: integrations.chat.clientid and clientsecret have to be checked.';

const appErrors: ReadonlySet<string> = new Set(['bad_client_secret', 'invalid_client_id', 'bad_redirect_uri']);

/** A client of the workspace that has given the token. */
export function openWorkspace(context: ProviderContext): Promise<WebClient> {
  return openChat(context, keptText(context.credential, 'accessToken'));
}

/** @param token left out for methods that need none */
export async function openChat(context: OpeningContext, token?: string): Promise<WebClient> {
  const { WebClient: Client, LogLevel } = await import('@slack/web-api');
  return new Client(token, {
    slackApiUrl: `${context.baseUrl(usualUrl)}/api/`,
    allowAbsoluteUrls: false,
    fetch: libraryFetch(context),
    // One attempt: runs repeat what failed.
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
    logger: silent,
  });
}

/** The URL at which people let the app in. */
export function authorizeUrl({ baseUrl }: OpeningContext, parameters: Readonly<Record<string, string>>): string {
  return `${baseUrl(usualUrl)}/oauth/v2/authorize?${new URLSearchParams(parameters).toString()}`;
}

/** Runs a call, whose errors are ours. @throws ProviderError */
export function calling<T>(work: () => Promise<T>): Promise<T> {
  return withLibrary(work, (error) => {
    const code = (error as { readonly data?: { readonly error?: unknown } } | null)?.data?.error;
    return typeof code === 'string' ? errorOfCode(code) : undefined;
  });
}

function errorOfCode(given: string): ProviderError {
  if (appErrors.has(given)) return new ProviderError('refused', appRefused);
  const remedy = channelRemedies[given];
  if (remedy !== undefined) return new ProviderError('refused', remedy);
  const code = codes[given] ?? 'refused';
  // Only what is a word of the platform: an answer may repeat what it was sent.
  const word = /^[a-z_]{1,60}$/.test(given) ? given : 'unknown error';
  return new ProviderError(code, `The chat answers with "${word}". ${remedies[code]}`);
}

/** The library writes parts of answers. */
const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  setName() {},
  getLevel: () => 'error' as never,
};
