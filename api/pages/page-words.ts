import type { ErrorCode } from '#entities/kit/base/error-catalogue.ts';

/** Text of a page in place of the message of an error. `{time}` stands for the wait that the answer names. */
export type PageWords = Partial<Record<ErrorCode, string>>;

const busy = 'The service cannot do this at the moment. Nothing was changed. Wait a little, then try again.';
const tooOften = 'This was tried too often. Try again {time}.';
const linkEnded = 'This link no longer works.';

/** Words for people by code; a page has others where it can say more. */
export const pageWords = {
  invalid_input: 'One of your entries is not accepted. Correct it, then try again.',
  invalid_token: linkEnded,
  token_expired: 'This link has expired.',
  invalid_credentials: 'The e-mail address or the password is wrong.',
  invalid_passkey: 'The passkey was not accepted. Try again.',
  weak_password:
    'This password is too easy to guess. Use at least 12 characters, for example four unrelated words, without your name, your address or the name of your organization.',
  unauthenticated: 'You are no longer signed in. Sign in again.',
  single_sign_on_required: 'Your organization requires its single sign-on.',
  second_factor_required:
    'This organization requires a second factor, and your account has none yet. Sign in with your password and set up an authenticator app first.',
  permission_denied: 'Your account may not do this.',
  no_current_organization: 'You are not a member of an organization at the moment.',
  not_found: 'This no longer exists.',
  already_exists: 'This has been done already.',
  identity_not_linked:
    'There is an account with your e-mail address that signs in in another way. Sign in to it, for example with its password, and link this provider there.',
  provider_sign_in_failed:
    'The sign-in at the provider was cancelled, took too long, or was begun in another browser. Begin again.',
  provider_unavailable: 'The provider cannot be reached at the moment. Try again later, or sign in in another way.',
  limit_exceeded: 'This exceeds a limit.',
  too_many_requests: tooOften,
  rate_limit_exceeded: tooOften,
  csrf_token_missing: 'Your browser did not keep the cookie that protects this page. Allow cookies, then try again.',
  csrf_token_invalid: 'This page was open for too long. Load it again, then try again.',
  organization_archived: 'The organization is archived, so nothing in it can be changed.',
  overloaded: busy,
  database_busy: busy,
  database_unavailable: busy,
  concurrent_changes: busy,
  deadline_exceeded: busy,
  authorization_unavailable: busy,
  workflows_unavailable: busy,
  shutting_down: busy,
} as const satisfies PageWords;

/** For all other errors. `{request}` stands for the id of the request. @param supportEmail empty for none */
export const unknownError = (supportEmail: string) =>
  `Something went wrong. Try again. If it happens again, write to ${supportEmail || 'our support'} and quote {request}.`;

/** For a request that got no answer. */
export const unreachable = 'The server cannot be reached. Check your connection, then try again.';
