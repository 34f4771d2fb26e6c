import type { delegation } from '#entities/identity/delegation.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { MailContext } from './define-mail.ts';

/** When somebody acts for others. The record stays when the access ends. @param where they act */
export async function delegationPeriod(
  { createdAt, expiresAt, endedAt }: RowOf<typeof delegation>,
  where: string,
  instant: MailContext<unknown>['instant'],
): Promise<string> {
  return endedAt
    ? `acted ${where} from ${await instant(createdAt)} until ${await instant(endedAt)}`
    : `acts ${where} until ${await instant(expiresAt)} at the latest`;
}
