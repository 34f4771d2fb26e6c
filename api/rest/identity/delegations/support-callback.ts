import { organization } from '#entities/organizations/organization.ts';
import { parseDomain, parseEmail } from '#entities/kit/base/email-address.ts';
import { failed, type ProviderIdentity } from '../../../auth/sign-in-providers.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { signInRefusal } from '../../../pages/error-page.ts';
import { pageAnswer, wantsPage } from '../../../pages/page-route.ts';
import { CallbackQuery, identityOf, takeState } from '../providers/provider-flow.ts';
import { beginDelegation, DelegationSchema, maxMinutes } from './begin-delegation.ts';
import { consentOf, noConsent } from './support-login.ts';
import { supportPage } from './support-page.ts';
import { settingsDigest, supportProvider, supportSettings } from './support-provider.ts';

/** The second factor of support access, and its beginning. */
export const supportCallback = defineRoute({
  method: 'GET',
  url: '/v1/support/callback',
  operationId: 'completeSupportAccess',
  tag: 'Acting as another user',
  summary: 'Return from the provider of the second factor',
  description:
    'The provider sends the browser here (auth.supportaccess.redirecturl). Returns a token with which support acts in the organization for one hour, with the rights of an admin except over credentials, roles and settings. Each response to it carries the header Support-Access. It ends with POST /v1/delegation/end, and when the consent ends. Browsers get a page with the token.',
  // A person who is signed in in this browser has no part in it.
  access: 'anonymous',
  limitClass: 'flow',
  query: CallbackQuery,
  answers: { 201: DelegationSchema },
  // It uses up the state in a transaction of its own, and asks the provider.
  runsOnce: true,
  errorAnswer: signInRefusal,
  errors: ['invalid_input', 'not_found', 'provider_sign_in_failed', 'provider_unavailable', 'permission_denied'],
  handle: async (call) => {
    const settings = supportSettings(call);
    const opened = await takeState(call, 'support');
    const { organizationId, reason } = opened;
    if (organizationId === null || reason === undefined || opened.settings !== settingsDigest(settings))
      throw failed('support access has been set up anew since it was begun');
    const identity = await identityOf(call, supportProvider(call, settings), opened);
    const { id: consentId } = await consentOf(call, organizationId);
    const values = {
      type: 'support',
      reason,
      actorId: settings.subjectid,
      actorName: settings.displayname,
      actorEmail: addressWithin(settings.alloweddomain, identity, call),
      subjectId: settings.subjectid,
      consentId,
      organizationId,
      expiresAt: new Date(call.services.clock.now().getTime() + maxMinutes * 60_000),
    } as const;
    void call.reply.header('cache-control', 'no-store').header('vary', 'Accept');
    const begun = await beginDelegation(call, values, noConsent);
    if (!wantsPage(call.request)) return begun;
    const { name } = await call.unit.data.privileged('begin delegation').get(organization, organizationId);
    const page = pageAnswer(call.services, call.reply, (config, at) => supportPage(config, at, name, begun.body));
    return { status: begun.status, body: page };
  },
});

/** The verified address of an identity. @throws AppError provider_sign_in_failed for another domain */
function addressWithin(domain: string, { email, subject }: ProviderIdentity, { request }: Call<unknown>): string {
  const verified = parseEmail(email ?? '');
  if (verified !== undefined && verified.domain === parseDomain(domain)) return verified.address;
  // A person who comes this far knows the shared password.
  request.log.warn(
    { email, subject },
    'somebody who may not complete the second factor of support access has tried to',
  );
  throw failed('it has not verified an e-mail address of the user in the domain of support staff');
}
