import { accountEmailSuppression } from '#entities/email/account-email-suppression.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { releaseAddressContract } from '#workflows/email/release-address.contract.ts';
import type { ToolContext } from './tool.ts';

export type AddressCommand =
  | { readonly name: 'list' }
  | { readonly name: 'release'; readonly address: string; readonly reason: string };

const maxListed = 1_000;

/**
 * Operations on addresses that get no e-mails about accounts, for operators. Those of an organization are up to its managers.
 * @returns whether it was done
 */
export async function runAddressCommand(
  command: AddressCommand,
  { runtime, print }: ToolContext<'database' | 'temporal'>,
): Promise<boolean> {
  const { database, temporal } = runtime;
  const context = { caller: systemCaller('operator of addresses'), requestId: `addresses-${newId()}` };
  if (command.name === 'list') {
    const held = await database.transact({ ...context, readOnly: true }, ({ data }) =>
      data.find(accountEmailSuppression, {
        where: { releasedAt: { isNull: true } },
        orderBy: [{ field: 'createdAt', direction: 'desc' }],
        limit: maxListed,
      }),
    );
    if (held.length === 0) print('Every address gets e-mails about accounts.');
    for (const { email, reason, createdAt } of held) print(`${email}  ${reason}  since ${createdAt.toISOString()}`);
    return true;
  }
  const released = await database.transact(context, async ({ data, clock }) => {
    const held = await data.findOne(accountEmailSuppression, {
      suppressedEmail: { eq: emailForm(command.address) },
    });
    if (!held) return undefined;
    await data.update(accountEmailSuppression, held.id, { releasedAt: clock.now(), releaseReason: command.reason });
    return held.id;
  });
  if (released === undefined) {
    print(`${command.address} gets e-mails about accounts already.`);
    return false;
  }
  // The providers may suppress it as well.
  await temporal.start(releaseAddressContract, { suppressionId: released }, { search: {} });
  print(`${command.address} gets e-mails about accounts again.`);
  return true;
}
