import type { AuthFlow, Credential, OpeningContext } from '../definition.ts';
import { askGraph } from '../graph/graph-client.ts';
import { anyTenant, consentUrl, loginServer, tenantIdPattern } from '../graph/login-server.ts';
import { openClient, tokensOfApp } from '../oauth/oauth-client.ts';
import { beginSignIn, finishSignIn } from '../oauth/sign-in.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

/** Roles that may let an app read a directory, by the ids that they have in each tenant: Global and Privileged Role Administrator. */
const administrators: ReadonlySet<unknown> = new Set([
  '62e90394-69f5-4237-9190-012177145e10',
  'e8611ab8-c189-46e8-94e1-60213ab1f814',
]);

const appScope = 'https://graph.microsoft.com/.default';
const personScope = 'openid';

/**
 * Consent of an administrator, then their sign-in. The parameters of the consent prove nothing: everybody can write the id of a tenant that has
 * let the app in before into the URL of the callback. So the id token says which tenant it is, and the directory that the person is one of its
 * administrators.
 */
export const tenantConsent: AuthFlow = {
  begin: (context, { state, callbackUrl }) => {
    const { clientid } = settingsOf(context);
    const url = consentUrl(context, namedTenant(context), {
      client_id: clientid,
      redirect_uri: callbackUrl,
      scope: appScope,
      state,
    });
    return Promise.resolve({ url, kept: {} });
  },

  proceed: async (context, answer, { kept, callbackUrl, nextState }) => {
    if (kept['tenantId'] !== undefined) return undefined;
    const tenantId = consentingTenant(answer);
    const server = loginServer(context, tenantId, settingsOf(context));
    const begun = await beginSignIn(context, server, { state: nextState, callbackUrl, scope: personScope });
    return { url: begun.url, kept: { ...begun.kept, tenantId } };
  },

  finish: async (context, answer, request) => {
    const { tenantId } = request.kept;
    if (tenantId === undefined) throw refused('The consent was not followed by a sign-in.');
    const server = loginServer(context, tenantId, settingsOf(context));
    const { claims, opened } = await finishSignIn(context, server, answer, { ...request, scope: personScope });
    const [tid, oid] = [claims?.['tid'], claims?.['oid']];
    if (tid !== tenantId || typeof oid !== 'string' || !tenantIdPattern.test(oid))
      throw invalidAnswer('its id token is not one of the tenant');
    const tokens = await tokensOfApp(context, opened, appScope);
    await requireAdministrator(context, tokens.accessToken, oid);
    return { tenantId, ...tokens };
  },
};

/** A new access token; the app needs no refresh token for it. @throws ProviderError unauthorized when the tenant has put the app out */
export async function renewedCredential(context: OpeningContext, tenantId: string): Promise<Credential> {
  const opened = await openClient(context, loginServer(context, tenantId, settingsOf(context)));
  return { tenantId, ...(await tokensOfApp(context, opened, appScope)) };
}

function settingsOf({ config }: Pick<OpeningContext, 'config'>) {
  return config.integrations.directoryservice;
}

/** The tenant that the organization names, else that of the operator. */
function namedTenant(context: OpeningContext): string {
  const { tenant } = context.userInput;
  return encodeURIComponent((typeof tenant === 'string' && tenant) || settingsOf(context).defaulttenant || anyTenant);
}

function consentingTenant(answer: URLSearchParams): string {
  const tenantId = answer.get('tenant')?.toLowerCase() ?? '';
  if (answer.has('error') || answer.get('admin_consent')?.toLowerCase() !== 'true')
    throw refused('The consent was not given.');
  if (!tenantIdPattern.test(tenantId)) throw invalidAnswer('it does not name the tenant that has consented');
  return tenantId;
}

async function requireAdministrator(context: OpeningContext, accessToken: string, personId: string): Promise<void> {
  const path = `/users/${personId}/transitiveMemberOf/microsoft.graph.directoryRole?$count=true&$select=id,roleTemplateId`;
  const { value } = ((await askGraph(context, accessToken, path)) ?? {}) as { readonly value?: unknown };
  if (!Array.isArray(value)) throw invalidAnswer('it does not name the roles of the person');
  const roles = value as readonly ({ readonly roleTemplateId?: unknown } | null)[];
  if (roles.some((role) => administrators.has(role?.roleTemplateId))) return;
  throw new ProviderError(
    'forbidden',
    'The person who signed in is not an administrator of the tenant. Let a Global Administrator or a Privileged Role Administrator connect it.',
  );
}

function refused(reason: string): ProviderError {
  return new ProviderError('refused', `${reason} Begin again, as an administrator of the tenant.`);
}
