import { accountEmailSuppression } from '#entities/email/account-email-suppression.ts';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { everyTopic, optionalReasons, type SuppressionReason } from '#entities/email/suppression-fields.ts';
import { notificationTopics } from '#entities/notifications/notification-topics.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** For whom an address gets no e-mails: an organization, or with null the accounts of the installation. */
interface SuppressionScope {
  readonly organizationId: string | null;
}

/** Stops e-mails to an address; one that gets none already stays as it is. The unit of work is one of the server. */
export async function suppressAddress(
  { data }: Pick<UnitOfWork, 'data'>,
  { organizationId }: SuppressionScope,
  address: string,
  about: { readonly reason: SuppressionReason; readonly emailId: string },
): Promise<void> {
  const email = emailForm(address);
  if (organizationId === null) {
    if (await data.findOne(accountEmailSuppression, { suppressedEmail: { eq: email } })) return;
    await data.create(accountEmailSuppression, { email, ...about });
    return;
  }
  const where = { organizationId: { eq: organizationId }, suppressedEmail: { eq: email }, topic: { eq: everyTopic } };
  if (await data.findOne(emailSuppression, where)) return;
  await data.create(emailSuppression, { organizationId, email, ...about });
}

/**
 * Why an address gets no e-mails; undefined when it gets them.
 * @param optional what a link in the e-mail ends; undefined for one about an account or security, which has no such link
 */
export async function suppressionOf(
  { data }: Pick<UnitOfWork, 'data'>,
  { organizationId }: SuppressionScope,
  address: string,
  optional: readonly string[] | undefined,
): Promise<SuppressionReason | undefined> {
  const suppressedEmail = { eq: emailForm(address) };
  const topic = { in: [everyTopic, ...(optional ?? [])] };
  const found =
    organizationId === null
      ? await data.findOne(accountEmailSuppression, { suppressedEmail })
      : await data.findOne(emailSuppression, { organizationId: { eq: organizationId }, suppressedEmail, topic });
  return found && (optional || !optionalReasons.has(found.reason)) ? found.reason : undefined;
}

/** Topics that an address has ended in an organization, of a person who was no member then: members have preferences. */
export async function endedTopicsOf(
  { data }: Pick<UnitOfWork, 'data'>,
  organizationId: string,
  address: string,
): Promise<ReadonlySet<string>> {
  const topics = [...notificationTopics];
  const found = await data.find(emailSuppression, {
    where: {
      organizationId: { eq: organizationId },
      suppressedEmail: { eq: emailForm(address) },
      topic: { in: topics },
    },
    limit: topics.length,
  });
  return new Set(found.map(({ topic }) => topic));
}
