import { createPrivateKey } from 'node:crypto';
import type { App } from '@octokit/app';
import type { OpeningContext, ProviderContext } from '../definition.ts';
import { untilResetOf } from '../provider-http.ts';
import { libraryFetch, withLibrary, type ErrorOfAnswer } from '../library-fetch.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

const usualUrl = 'https://api.github.com';

/** Version of the interface, which is stable for two years. */
const apiVersion = '2022-11-28';

type Request = App['octokit']['request'];

/** Requests of the app itself, which it signs with its key. @throws ProviderError refused for a key that is none */
export async function askAsApp(context: OpeningContext): Promise<Request> {
  const app = await openApp(context);
  const { token } = (await app.octokit.auth({ type: 'app' })) as { readonly token: string };
  return requests(app, context, `Bearer ${token}`, appRefused);
}

/** Requests of the app in one installation. */
export async function askAsInstallation(context: ProviderContext): Promise<Request> {
  const app = await openApp(context);
  return requests(app, context, `token ${keptText(context.credential, 'accessToken')}`, () => undefined);
}

/** Runs requests, whose errors are ours. @throws ProviderError */
export function asking<T>(work: () => Promise<T>): Promise<T> {
  return withLibrary(work);
}

/**
 * One attempt for each request: the hook of the library, which would sign it, tries again when a new token is refused or the clocks differ.
 */
function requests(app: App, context: OpeningContext, authorization: string, refused: ErrorOfAnswer): Request {
  return app.octokit.request.defaults({
    baseUrl: context.baseUrl(usualUrl),
    headers: { authorization, 'x-github-api-version': apiVersion },
    request: {
      fetch: libraryFetch(context, async (...given) => (await limitOf(...given)) ?? refused(...given)),
      hook: undefined,
      log: silent,
    },
  });
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function openApp({ config }: OpeningContext): Promise<App> {
  const { appid: appId, privatekey } = config.integrations.codehostapp;
  // Environments and secret stores often keep line breaks as two characters.
  const privateKey = checkedKey(privatekey.replaceAll(String.raw`\n`, '\n'));
  const { App: OctokitApp } = await import('@octokit/app');
  return new OctokitApp({ appId, privateKey, log: silent });
}

/** The key as PKCS #8, in which the library reads it. */
function checkedKey(pem: string): string {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch {
    // The message of OpenSSL can repeat parts of the key.
  }
  throw new ProviderError(
    'refused',
    'integrations.codehostapp.privatekey is not the RSA key of an app in PEM form. Report it to those who operate the server.',
  );
}

/** The code host says 403 also when it asks for a pause. */
const limitOf: ErrorOfAnswer = ({ status, headers }, pauseMs, now) => {
  const untilResetMs = untilResetOf((name) => headers.get(name), now);
  const isLimit = status === 429 || (status === 403 && (untilResetMs ?? pauseMs) !== undefined);
  if (!isLimit) return undefined;
  return new ProviderError('rate_limited', `The code host takes no requests for some time. ${remedies.rate_limited}`, {
    retryAfterMs: pauseMs ?? untilResetMs,
  });
};

const appRefused: ErrorOfAnswer = ({ status }) =>
  status === 401
    ? new ProviderError(
        'refused',
        'The code host refuses the app of this server. Report it to those who operate the server: integrations.codehostapp.appid and privatekey have to be checked.',
      )
    : undefined;
