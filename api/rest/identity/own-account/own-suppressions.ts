import { Type } from 'typebox';
import { accountEmailSuppression } from '#entities/email/account-email-suppression.ts';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { everyTopic, suppressionReasons } from '#entities/email/suppression-fields.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { topicInWords } from '#entities/notifications/notification-topics.ts';
import { organization } from '#entities/organizations/organization.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { workOf } from '../../../http/request-context.ts';
import { idSchema, MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { resumed } from '../../../people/mailed-subscription.ts';

/** Maximum number of suppressions that are listed, the newest first. */
const maxListed = 100;

const path = '/v1/account/email-suppressions';

const common = { tag: 'Account', access: 'required', allowsMissingFactor: true } as const;

const SuppressionSchema = Type.Object({
  id: Type.String({ description: 'Id of the suppression.' }),
  email: Type.String({ description: 'Address of the user.' }),
  organization_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Organization whose e-mails are not sent; null for those about the account.',
  }),
  organization: Type.Union([Type.String(), Type.Null()], { description: 'Name of the organization.' }),
  about: Type.String({ description: 'E-mails that are not sent, in words.' }),
  reason: Type.Union(
    suppressionReasons.map((reason) => Type.Literal(reason)),
    {
      description:
        'hard_bounce: the server of the address takes no e-mails for it; complaint: an e-mail was reported as unwanted; refused: the provider does not send to it; unsubscribed: the user wants no more; manual: a manager has entered it.',
    },
  ),
  since: Type.String({ format: 'date-time', description: 'Time since which they are not sent.' }),
  can_release: Type.Boolean({ description: 'Whether the user can release it: they have unsubscribed.' }),
});

/** Rows of all organizations: whoever is signed in owns the address. */
function withOwn<T>(
  call: Pick<Call<unknown>, 'request' | 'services' | 'unit'>,
  work: (data: DataClient, address: string) => Promise<T>,
): Promise<T> {
  const { userId } = signedInPerson(call);
  const context = workOf(call.request.core, systemCaller('own suppressions'));
  return call.services.database.transact(context, async ({ data }) => {
    const held = await data.findOne(user, { id: { eq: userId } });
    if (!held) throw missingRecord(user, userId);
    return work(data, held.email);
  });
}

export const listOwnSuppressions = defineRoute({
  ...common,
  method: 'GET',
  url: path,
  operationId: 'listOwnEmailSuppressions',
  summary: 'List e-mails that are not sent to you',
  description:
    'Addresses of the user to which e-mails are not sent, in any organization, and why: at most 100, the newest first. Topics that they have ended in an organization are among their notification preferences (`is_unsubscribed`).',
  answers: { 200: Type.Object({ data: Type.Array(SuppressionSchema) }) },
  errors: ['not_found', 'permission_denied'],
  handle: async (call) => {
    const rows = await withOwn(call, async (data, address) => {
      const page = {
        where: { suppressedEmail: { eq: address } },
        orderBy: [{ field: 'id', direction: 'desc' }],
        limit: maxListed,
      } as const;
      const own = await data.find(emailSuppression, page);
      const ids = [...new Set(own.map(({ organizationId }) => organizationId))];
      const named =
        ids.length === 0 ? [] : await data.find(organization, { where: { id: { in: ids } }, limit: ids.length });
      const nameOf = new Map(named.map(({ id, displayName, name }) => [id, displayName ?? name]));
      const ofAccount = await data.find(accountEmailSuppression, page);
      return [
        ...ofAccount.map((row) => ({
          ...row,
          organizationId: null,
          organization: null,
          about: 'e-mails about your account',
        })),
        ...own.map((row) => ({
          ...row,
          organization: nameOf.get(row.organizationId) ?? null,
          about:
            row.topic === everyTopic ? 'all e-mails of the organization' : `e-mails about ${topicInWords(row.topic)}`,
        })),
      ]
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, maxListed);
    });
    return {
      status: 200,
      body: {
        data: rows.map(({ id, email, organizationId, organization: name, about, reason, createdAt }) => ({
          id,
          email,
          organization_id: organizationId,
          organization: name,
          about,
          reason,
          since: createdAt.toISOString(),
          can_release: organizationId !== null && reason === 'unsubscribed',
        })),
      },
    };
  },
});

export const releaseOwnSuppression = defineRoute({
  ...common,
  method: 'POST',
  url: `${path}/:id/release`,
  operationId: 'releaseOwnEmailSuppression',
  summary: 'Receive e-mails again',
  description:
    'Takes back that the user has unsubscribed. Other suppressions are released by the managers of the organization. A repeated request changes nothing and succeeds.',
  // It has a transaction of its own.
  runsOnce: true,
  params: Type.Object({ id: idSchema('Id of the suppression.') }),
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied'],
  handle: async (call) => {
    const id = existingId(emailSuppression, call.params['id'] ?? '');
    await withOwn(call, async (data, address) => {
      const held = await data.findLocked(emailSuppression, id);
      if (held?.email !== address) throw missingRecord(emailSuppression, id);
      if (held.reason !== 'unsubscribed')
        throw new AppError('permission_denied', 'The managers of the organization release this address.');
      if (held.releasedAt === null)
        await data.update(emailSuppression, id, { releasedAt: call.services.clock.now(), releaseReason: resumed });
    });
    return { status: 200, body: { message: 'These e-mails are sent to you again.' } };
  },
});
