import type { AuthFlow, Credential, OpeningContext, ProviderAccount, ProviderContext } from '../definition.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer, remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';
import { askAsApp, asking } from './app-client.ts';

const usualUrl = 'https://github.com';

const installationIdPattern = /^[1-9]\d{0,18}$/;

/** Difference between the clocks of the code host and of this server that is tolerated, in milliseconds. */
const toleranceMs = 60_000;

interface Installation {
  readonly id: string;
  readonly login: string;
  readonly isOrganization: boolean;
  readonly changedAt: Date;
}

/**
 * Installation of the app. The id in the callback proves nothing: everybody can write that of another customer there, and the code host names
 * no person to an app without a sign-in. So only an installation that was made or changed after this sign-in began is taken.
 */
export const appInstallation: AuthFlow = {
  begin: ({ config, now, baseUrl }, { state }) => {
    const slug = encodeURIComponent(config.integrations.codehostapp.appslug);
    const url = `${baseUrl(usualUrl)}/apps/${slug}/installations/new?${new URLSearchParams({ state }).toString()}`;
    return Promise.resolve({ url, kept: { begunAt: now().toISOString() } });
  },

  finish: async (context, answer, { kept }) => {
    const id = installationOf(answer);
    const begunAt = Date.parse(kept['begunAt'] ?? '');
    const found = await readInstallation(context, id).catch((error: unknown) => {
      if (!(error instanceof ProviderError) || error.code !== 'unauthorized') throw error;
      throw new ProviderError('refused', 'The app has no such installation, or it is suspended. Install it again.');
    });
    if (!(found.changedAt.getTime() >= begunAt - toleranceMs))
      throw new ProviderError(
        'refused',
        'The app was installed before this sign-in began. Change its installation at the code host, for example the repositories that it may read, or uninstall it there; then connect again.',
      );
    return newCredential(context, found);
  },
};

/** The installation still exists and is not suspended. @throws ProviderError unauthorized */
export async function checkInstallation(context: ProviderContext): Promise<ProviderAccount> {
  const { id, login } = await readInstallation(context, keptText(context.credential, 'installationId'));
  return { id, name: login };
}

/** A new token, which lasts an hour, and the name that the account has now. @throws ProviderError unauthorized */
export async function renewedCredential(context: ProviderContext): Promise<Credential> {
  return newCredential(context, await readInstallation(context, keptText(context.credential, 'installationId')));
}

/** Uninstalls the app. @throws ProviderError */
export async function uninstall(context: ProviderContext): Promise<void> {
  const ask = await askAsApp(context);
  const installation_id = pathId(keptText(context.credential, 'installationId'));
  try {
    await asking(() => ask('DELETE /app/installations/{installation_id}', { installation_id }));
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== 'not_found') throw error;
  }
}

function installationOf(answer: URLSearchParams): string {
  if (answer.get('setup_action') === 'request')
    throw new ProviderError(
      'refused',
      'An owner at the code host has to approve the installation. Connect again when it is approved.',
    );
  const id = answer.get('installation_id') ?? '';
  if (!installationIdPattern.test(id)) throw invalidAnswer('it does not name the installation');
  return id;
}

async function readInstallation(context: OpeningContext, id: string): Promise<Installation> {
  const ask = await askAsApp(context);
  const { data } = await ofInstallation(() =>
    ask('GET /app/installations/{installation_id}', { installation_id: pathId(id) }),
  );
  const { id: foundId, account, suspended_at: suspendedAt, created_at: createdAt, updated_at: updatedAt } = data;
  const { login, type } = (account ?? {}) as { readonly login?: unknown; readonly type?: unknown };
  if (String(foundId) !== id || typeof login !== 'string' || login === '')
    throw invalidAnswer('it does not name the account of the installation');
  if (suspendedAt !== null && suspendedAt !== undefined)
    throw new ProviderError(
      'unauthorized',
      'The installation of the app is suspended. Let an owner at the code host end the suspension, or connect the integration again.',
    );
  const changedAt = new Date(Math.max(Date.parse(createdAt), Date.parse(updatedAt)));
  return { id, login, isOrganization: type === 'Organization', changedAt };
}

async function newCredential(
  context: OpeningContext,
  { id, login, isOrganization }: Installation,
): Promise<Credential> {
  const ask = await askAsApp(context);
  const { data } = await ofInstallation(() =>
    ask('POST /app/installations/{installation_id}/access_tokens', { installation_id: pathId(id) }),
  );
  const { token, expires_at: expiresAt } = data;
  if (typeof token !== 'string' || token === '' || Number.isNaN(Date.parse(expiresAt)))
    throw invalidAnswer('it sent no token for the installation');
  return { installationId: id, login, isOrganization, accessToken: token, expiresAt };
}

/** An installation that is not there, or is suspended, is one that has to be connected again. */
async function ofInstallation<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await asking(work);
  } catch (error) {
    if (!(error instanceof ProviderError) || !['not_found', 'forbidden'].includes(error.code)) throw error;
    throw new ProviderError('unauthorized', `The app is not installed any more. ${remedies.unauthorized}`);
  }
}

/** The library types ids as numbers, and writes what it gets into the path. */
function pathId(id: string): number {
  return id as unknown as number;
}
